# How a shell calls a command of ours, in a subshell without the options that would show it or end it.
__synapse_call() ( { \builtin local -; \builtin set +vxeuC; } 2>/dev/null; \builtin . @directory@/call "$@" )
