# How a shell calls a command of ours: in a subshell, without the options that would show it or end it. A function of the
# command's name has the same body, since a call of this one would show in a trace.
__synapse_call() ( { \builtin set +vxeuCET; \builtin shopt -u expand_aliases; } 2>/dev/null; \builtin . @directory@/call "$@" )
