# How a shell calls a command of ours: in a subshell, without the options that would show it or end it. A function of the
# command's name has the same body, since a call of this one would show in a trace.
#
# In posix mode, no function takes the place of `unset`; a function named `builtin` would take that of all the others.
__synapse_call() ( { if [[ ${POSIXLY_CORRECT+${POSIXLY_CORRECT@a}} != *r* ]]; then __synapse=${POSIXLY_CORRECT+=$POSIXLY_CORRECT}; POSIXLY_CORRECT=; \unset -f builtin; if [[ $__synapse ]]; then POSIXLY_CORRECT=${__synapse#=}; else \unset -v POSIXLY_CORRECT; fi; fi; \builtin set +vxeuCET; \builtin shopt -u expand_aliases; } 2>/dev/null; \builtin . @directory@/call "$@" )
