"""The league in a browser: a viewer like the others, which reads runs and changes nothing."""
