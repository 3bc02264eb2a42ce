# Only the shell itself knows the exit codes of its children, and Synapse may ask for them: the answer is then a text that adds
# them to `__synapse_ended`, and the call is made again. `job:stop` has the same body.
job:wait() {
  { \unset -f builtin; \builtin local -; \builtin local -a __synapse='' __synapse_ended='' __synapse_status=''; \builtin set +vxeuET; } 2>/dev/null
  if [[ $BASHPID != "$$" ]]; then
    __synapse_call job:wait "$@"
    \builtin return
  fi
  while
    __synapse=$(__synapse_call job:wait "--ended=$__synapse_ended" "$@")
    __synapse_status=$?
    [[ $__synapse == \\builtin* ]]
  do
    \builtin eval "$__synapse"
  done
  if [[ $__synapse ]]; then \builtin printf '%s\n' "$__synapse"; fi
  \builtin return "$__synapse_status"
}
