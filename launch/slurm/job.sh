# The manners of a job of a league, for the scripts beside this file, which set:
#   LUDUS_RUN       the run directory
#   LUDUS_NAME      what this process is called, e.g. collector-3
#   LUDUS_JOBS      the names of all jobs of this league
#   LUDUS_REQUEUES  restarts of this job after which the league is given up
# and then call: serve COMMAND...
#
# A process that ends with 0 has done its part. Any other end is a failure: it starts again a few times, then it is
# given up, unless Slurm has started the job a second time while it thought it dead. Slurm sends USR1 before the time
# limit: the process writes its checkpoint and ends, and the job is requeued, also if the limit comes before it is done.
# Slurm sends TERM when it wants the node back; that needs no answer but haste, because Slurm itself requeues what it
# preempts.

FATAL=5       # failures in a row after which a process is given up
LAST_WORDS=30 # seconds that the others have to end by themselves when the league is over
HEALTHY=60    # seconds after which earlier failures are forgiven
SAME=3        # failures in a row by the same error, with nothing done in between: the same rule as launch/processes/failing.py

# Of two processes with one name, that of the later order stays.
export LUDUS_ORDER=$(printf '%012d.%06d' "$SLURM_JOB_ID" "${SLURM_RESTART_COUNT:-0}")

warned='' ended='' woken=0 child='' in_step=''  # by USR1, by TERM: neither makes us forget the other
hand_on() {
    # srun kills its processes when it gets a TERM; they got it from Slurm already.
    if [ -n "$child" ] && ! { [ "$1" = TERM ] && [ -n "$in_step" ]; }; then kill -s "$1" "$child" 2>/dev/null; fi
}
trap 'warned=yes woken=1; hand_on USR1' USR1
trap 'ended=yes woken=1; hand_on TERM' TERM

say() { printf '%s %s: %s\n' "$(date '+%F %T')" "$LUDUS_NAME" "$*" >&2; }

serve() {
    local failures=0 attempt=0 began code rest same=0 error='' before
    say "job $(job_id) on $(hostname), restart ${SLURM_RESTART_COUNT:-0}"
    while :; do
        leave_if_told
        began=$SECONDS began_at=$(date +%s) attempt=$((attempt + 1)) before=$error
        log_size=$(size "$LUDUS_RUN/logs/$LUDUS_NAME.log") journal_size=$(size "$LUDUS_RUN/journals/$LUDUS_NAME.jsonl")
        LUDUS_GROUP=$SLURM_JOB_ID.${SLURM_RESTART_COUNT:-0}.$attempt
        attend "$@"; code=$?
        leave_if_told
        [ "$code" != 0 ] || finish
        ! replaced || { say "replaced: Slurm has started another one"; exit 1; }
        ! refused || give_up "refused what it was given" "$code"
        [ $((SECONDS - began)) -le "$HEALTHY" ] && ! killed_at_work || failures=0
        failures=$((failures + 1)) rest=$((2 ** failures))
        error=$(last_error)
        if [ -z "$error" ] || [ "$error" != "$before" ] || worked; then same=0; fi
        [ -z "$error" ] || same=$((same + 1))
        [ "$same" -lt "$SAME" ] || give_up "failed $same times in a row with the same error (exit code $code)" "$code"
        [ "$failures" -lt "$FATAL" ] || give_up "failed $failures times in a row (exit code $code)" "$code"
        say "ended with exit code $code; it starts again in $rest s"
        attend sleep "$rest"
    done
}

size() { stat -c %s "$1" 2>/dev/null || echo 0; }

# What the process has written to its log in this life, and the last traceback in it, without what differs each time.
log_of_this_life() { tail -c "+$((log_size + 1))" "$LUDUS_RUN/logs/$LUDUS_NAME.log" 2>/dev/null; }
last_error() {
    log_of_this_life | awk '
        /Traceback \(most recent call last\):$/ { block = ""; inside = 1; first = NR }
        inside { block = block $0 "\n"; if (NR > first && !/^(\[rank[0-9]+\]: )? /) inside = 0 }
        END { printf "%s", block }' | sed -E 's/0x[0-9a-fA-F]+|[0-9][0-9.,]*/#/g'
}

# Whether the process said that no other start would help (launch/processes/failing.py); the reason is in slurm/ended.
refused() { log_of_this_life | grep -q ' ERROR ludus\.refusal: '; }

# Whether the process did durable work in this life: results that were acknowledged (by a coordinator: to anybody), a
# candidate; else a healthy time.
worked() {
    case $LUDUS_NAME in
        coordinator*) [ -n "$(find "$LUDUS_RUN/journals" -name '*.jsonl' -newermt "@$((began_at + 1))" -print -quit 2>/dev/null)" ]; return ;;
        collector* | learner*) ;;
        *) [ $((SECONDS - began)) -gt "$HEALTHY" ]; return ;;
    esac
    [ "$(size "$LUDUS_RUN/journals/$LUDUS_NAME.jsonl")" -gt "$journal_size" ] || log_of_this_life | grep -q 'is written'
}

# Whether a signal ended a coordinator that served: it starts again without a limit, as long as the ledger grows.
killed_at_work() {
    case $LUDUS_NAME in coordinator*) [ "$code" -gt 128 ] && worked ;; *) false ;; esac
}

leave_if_told() {
    [ -z "$warned" ] || requeue
    [ -z "$ended" ] || leave
}

leave() { say "ended by Slurm"; exit 143; }

# Say that the command of `serve` is a step of several processes, and where these meet.
step() {
    in_step=yes
    LUDUS_HEAD=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1):$((20000 + SLURM_JOB_ID % 20000))
    export LUDUS_HEAD LUDUS_GROUP LUDUS_RUN
}

# Run a command and hand signals on to it; its exit code is ours. Each signal wakes `wait` up before the end.
attend() {
    local code
    "$@" </dev/null &
    child=$!
    # A signal may have come before the child had a name; until it is a program of its own, it would be lost on it.
    [ -z "$warned$ended" ] || sleep 1
    [ -z "$warned" ] || hand_on USR1
    [ -z "$ended" ] || hand_on TERM
    while woken=0; wait "$child"; code=$?; [ "$woken" = 1 ]; do :; done
    child=''
    return "$code"
}

# aside NAME COMMAND...: run a command beside that of `serve`, with a log of its own, again if it ends. It is one
# that the league can do without; when the other command is done it gets a TERM, and a little time.
asides=''
aside() {
    local name=$1
    shift
    (
        stop='' beside=''
        trap 'stop=1; [ -z "$beside" ] || kill -s TERM "$beside" 2>/dev/null' TERM
        trap '' USR1
        while [ -z "$stop" ]; do
            "$@" </dev/null &
            beside=$!
            [ -z "$stop" ] || kill -s TERM "$beside" 2>/dev/null
            wait "$beside"
            [ -z "$stop" ] || wait "$beside"
            [ -n "$stop" ] || { sleep 15 & beside=$!; wait "$beside"; }
        done
    ) >>"$LUDUS_RUN/logs/$name.log" 2>&1 &
    asides="$asides $!"
}

end_asides() {
    [ -n "$asides" ] || return 0
    kill -s TERM $asides 2>/dev/null
    for ((i = 0; i < LAST_WORDS; i++)); do kill -0 $asides 2>/dev/null || break; sleep 1; done
    asides=''
}

replaced() {
    local order
    read -r order _ 2>/dev/null <"$LUDUS_RUN/claims/$LUDUS_NAME" && [[ $order > $LUDUS_ORDER ]]
}

finish() {
    end_asides
    say "done"
    # When the coordinator is done the league is over, or stopped: nobody else keeps an allocation.
    case $LUDUS_NAME in coordinator*)
        end_others --state=PENDING
        for ((i = 0; i < LAST_WORDS; i++)); do others_run || break; sleep 1; done
        end_others ;;
    esac
    exit 0
}

requeue() {
    local late
    ! cancelled || leave
    [ "${SLURM_RESTART_COUNT:-0}" -lt "$LUDUS_REQUEUES" ] ||
        give_up "was restarted ${SLURM_RESTART_COUNT:-0} times, and launch.slurm.requeues allows no more" 1
    end_asides
    for _ in 1 2 3; do
        ! cancelled || leave
        late=$ended ended=''
        # A requeue ends all that this job runs, with TERM: that is its success, whatever it makes of scontrol.
        if (trap '' TERM; exec scontrol requeue "$(job_id)") || [ -n "$ended" ]; then
            say "to be continued: requeued"
            while [ -z "$ended$late" ]; do sleep 1; done  # until Slurm ends this script
            exit 143
        fi
        sleep 3
    done
    give_up "could not be requeued: does this cluster forbid it? Go on with: ludus resume" 1
}

# Whether Slurm ended this job, and not for its time limit: then somebody does not want it, or Slurm itself requeues it.
cancelled() {
    [ -n "$ended" ] || return 1
    case $(squeue -h -t all -j "$(job_id)" -o %r) in TimeLimit | '') return 1 ;; esac
}

# Leave for good, and say why where `ludus status` looks. The league can do without a collector, as long as
# there is another one.
give_up() {
    say "given up: $1"
    case $LUDUS_NAME in collector*)
        others=$(squeue -h -r -t PENDING,RUNNING -u "$(id -un)" -n "$SLURM_JOB_NAME" -o %i | wc -l)
        [ "$others" -le 1 ] || exit "$2" ;;
    esac
    (set -C; echo "$LUDUS_NAME $1; see $LUDUS_RUN/logs/$LUDUS_NAME.log" >"$LUDUS_RUN/slurm/ended") 2>/dev/null
    end_others
    exit "$2"
}

# Cancel all other jobs of this league, or those that the options of scancel choose.
end_others() {
    local name
    for name in $LUDUS_JOBS; do
        [ "$name" = "$SLURM_JOB_NAME" ] || scancel --quiet --user="$(id -un)" --name="$name" "$@"
    done
}

others_run() {
    [ "$(squeue -h -r -t RUNNING,COMPLETING -u "$(id -un)" -n "${LUDUS_JOBS// /,}" -o %j | grep -cvxF "$SLURM_JOB_NAME")" != 0 ]
}

job_id() {
    if [ -n "${SLURM_ARRAY_JOB_ID:-}" ]; then echo "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"; else echo "$SLURM_JOB_ID"; fi
}
