# The manners of a job of a league, for the scripts beside this file, which set:
#   LUDUS_RUN       the run directory
#   LUDUS_NAME      what this process is called, e.g. collector-3
#   LUDUS_JOBS      the names of all jobs of this league
#   LUDUS_REQUEUES  restarts of this job after which the league is given up
# and then call: serve COMMAND...
#
# A process that ends with 0 has done its part; with 75 it wants to go on in a new allocation; with 71 it found that
# Slurm had started it a second time, elsewhere. Any other end is a failure: it starts again a few times, then it is given up. Slurm sends USR1 before the time limit, and TERM when
# it wants the node back; TERM needs no answer but haste, because Slurm itself requeues what it preempts.

CONTINUED=75
REPLACED=71
FATAL=5       # failures in a row after which a process is given up
HEALTHY=60    # seconds after which earlier failures are forgiven

told='' woken=0 child=''
hand_on() { told=$1 woken=1; [ -z "$child" ] || kill -s "$1" "$child" 2>/dev/null; }
trap 'hand_on USR1' USR1
trap 'hand_on TERM' TERM

say() { printf '%s %s: %s\n' "$(date '+%F %T')" "$LUDUS_NAME" "$*" >&2; }

serve() {
    local failures=0 began code rest
    say "job $(job_id) on $(hostname), restart ${SLURM_RESTART_COUNT:-0}"
    while :; do
        began=$SECONDS
        attend "$@"; code=$?
        [ "$told" != TERM ] || { say "ended by Slurm"; exit 143; }
        [ "$code" != 0 ] || finish
        [ "$code" != "$REPLACED" ] || { say "replaced by a newer one"; exit "$code"; }
        [ "$code" != "$CONTINUED" ] && [ "$told" != USR1 ] || requeue
        [ $((SECONDS - began)) -le "$HEALTHY" ] || failures=0
        failures=$((failures + 1)) rest=$((2 ** failures))
        [ "$failures" -lt "$FATAL" ] || give_up "failed $failures times in a row (exit code $code)" "$code"
        say "ended with exit code $code; it starts again in $rest s"
        sleep "$rest"
    done
}

# Run a command and hand signals on to it; its exit code is ours. Each signal wakes `wait` up before the end.
attend() {
    local code
    "$@" </dev/null &
    child=$!
    while woken=0; wait "$child"; code=$?; [ "$woken" = 1 ]; do :; done
    child=''
    return "$code"
}

finish() {
    say "done"
    # When the coordinator is done the league is over, or stopped: nobody else keeps an allocation.
    case $LUDUS_NAME in coordinator*) end_others ;; esac
    exit 0
}

requeue() {
    [ "${SLURM_RESTART_COUNT:-0}" -lt "$LUDUS_REQUEUES" ] ||
        give_up "was restarted ${SLURM_RESTART_COUNT} times, which is launch.slurm.requeues" 1
    for _ in 1 2 3; do
        if scontrol requeue "$(job_id)"; then
            say "to be continued: requeued"
            while [ "$told" != TERM ]; do sleep 1; done  # until Slurm ends this script
            exit 143
        fi
        sleep 3
    done
    give_up "could not be requeued: does this cluster forbid it? Go on with: ludus resume" 1
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

end_others() {
    local name
    for name in $LUDUS_JOBS; do
        [ "$name" = "$SLURM_JOB_NAME" ] || scancel --quiet --user="$(id -un)" --name="$name"
    done
}

job_id() {
    if [ -n "${SLURM_ARRAY_JOB_ID:-}" ]; then echo "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"; else echo "$SLURM_JOB_ID"; fi
}
