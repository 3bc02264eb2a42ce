# Calls a Synapse command in a subshell, without the options that would show it or end it. A function with the command's name
# has the same body, since a call of this function would show in a trace.
#
# In posix mode, no function can replace `unset`. A function named `builtin` would replace all other builtins.
__synapse_call() ( { if [[ ${POSIXLY_CORRECT+${POSIXLY_CORRECT@a}} != *r* ]]; then __synapse=${POSIXLY_CORRECT+=$POSIXLY_CORRECT}; POSIXLY_CORRECT=; \unset -f builtin; if [[ $__synapse ]]; then POSIXLY_CORRECT=${__synapse#=}; else \unset -v POSIXLY_CORRECT; fi; fi; \builtin set +vxaeuCET; \builtin shopt -u expand_aliases; } 2>/dev/null; \builtin . @directory@/call "$@" )
