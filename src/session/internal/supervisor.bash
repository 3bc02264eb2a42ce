# shellcheck shell=bash
# Runs the interactive shells of a session one after another, so that background processes outlive a shell.
#
# Descriptor 3 is a socket to the Synapse process, which sends a greeting, a secret word and the session's directory, and
# later `quit`. If the socket ends without that word, the Synapse process is dead. If a wrapper (docker exec, sudo) does
# not pass the descriptor on, this process becomes the shell. The names are odd, since the shells inherit the environment
# and a variable of the same name must reach them.
__synapse_next() { TMOUT='' IFS='' read -r -d '' "$@"; }

__synapse_greeted() {
  __synapse_next -t 10 -u 3 __synapse_word && [[ $__synapse_word == synapse-supervisor ]] &&
    __synapse_next -u 3 __synapse_token && __synapse_next -u 3 __synapse_directory && __synapse_next -u 3 __synapse_terminal
} 2>/dev/null

# Reads the state, the parent, the group and the session of a process.
__synapse_fields() {
  local stat=''
  __synapse_next stat <"/proc/$1/stat"
  # shellcheck disable=SC2206
  fields=(${stat##*)})
}

# Tests whether a process, whose fields are read, is in the process session $2, or carries the session's mark in its
# limits or environment.
__synapse_is_ours() {
  local limits='' variable
  if (( $2 > 1 && fields[3] == $2 )); then return 0; fi
  __synapse_next limits <"/proc/$1/limits"
  # shellcheck disable=SC2206
  limits=(${limits##*realtime timeout})
  if [[ ${limits[0]-} == [0-9]* ]] && (( limits[0] >> 28 == 16#4${SYNAPSE_SESSION:0:7} )); then return 0; fi
  while __synapse_next variable; do
    if [[ $variable == "SYNAPSE_SESSION=$SYNAPSE_SESSION" ]]; then return 0; fi
  done <"/proc/$1/environ"
  return 1
}

# Stops everything that the session has started, and lists it in `frozen`. A process that keeps forking would escape being
# killed one by one. Inspects each process once, so that the passes get short. A process that is gone meanwhile may have left a
# child.
__synapse_freeze() {
  local pass pid again=yes fields
  local -A seen=()
  for (( pass = 0; pass < 100; pass++ )); do
    if [[ ! $again ]]; then break; fi
    again=''
    for pid in /proc/[0-9]*; do
      pid=${pid#/proc/}
      if [[ ${seen[$pid]-} ]] || (( pid == BASHPID || pid == $$ )); then continue; fi
      seen[$pid]=yes
      __synapse_fields "$pid"
      # A zombie with more threads is a process whose first thread has ended.
      if [[ ${fields[0]-Z} == [ZX] ]] && (( ${fields[17]-0} < 2 )); then again=yes; continue; fi
      if ! __synapse_is_ours "$pid" "$1" || ! kill -STOP "$pid"; then continue; fi
      again=yes
      frozen+=("$pid")
      # No fork escapes a signal to its whole group.
      if (( fields[2] > 1 && fields[2] != $2 )); then
        kill -STOP -- "-${fields[2]}"
        frozen+=("-${fields[2]}")
      fi
    done
  done
}

# Waits for the death of the Synapse process. Then kills everything that the session has started, and removes the
# session's directory.
__synapse_guard() {
  local order fields own pass frozen
  __synapse_next -u 3 order
  if [[ $order == quit ]]; then exit; fi
  __synapse_fields self
  own=("${fields[@]}")
  for (( pass = 0; pass < 500; pass++ )); do
    frozen=()
    __synapse_freeze "${own[3]}" "${own[2]}"
    # All at once, since the death of one wakes its stopped children.
    if (( ${#frozen[@]} == 0 )) || ! kill -KILL -- "${frozen[@]}"; then break; fi
  done
  kill -KILL $$
  command -p rm -rf -- "$__synapse_directory"
}

# The shell has its own process group, so that `kill 0` does not reach this process. A person's shell also has a terminal, made
# by `script`, whose keys and screen are FIFOs of the Synapse process. The shell's own streams are then descriptors 5, 6 and 7
# of `script`.
__synapse_start() {
  local shell
  set -m
  # The supervisor must not count as a shell level.
  (
    SHLVL=$((SHLVL - 1))
    if [[ $__synapse_terminal ]]; then
      # shellcheck disable=SC2016
      printf -v shell 'SHELL=%q && stty sane $(<%q) && exec %q --norc --noprofile --noediting -i <&5 >&6 2>&7 5<&- 6>&- 7>&-' \
        "${SHELL-}" "$__synapse_directory/size" "$BASH"
      if [[ $OSTYPE == darwin* ]]; then set -- -qF /dev/null "$BASH" -c "$shell"; else set -- -qfec "$shell" /dev/null; fi
      SHELL=$BASH exec script "$@" 5<&0 6>&1 7>&4 2>&4 3>&- 4>&- \
        <"$__synapse_directory/keys" >"$__synapse_directory/screen"
    fi
    exec "$BASH" --norc --noprofile --noediting -i 2>&4 3>&- 4>&-
  ) &
  __synapse_shell=$!
  set +m
}

# Gives the shell's terminal the size of the person's. The shell is the child of `script`.
__synapse_resize() {
  local child fields
  read -r child _ <"/proc/$__synapse_shell/task/$__synapse_shell/children"
  __synapse_fields "$child"
  # shellcheck disable=SC2046
  stty $(<"$__synapse_directory/size") <"/dev/pts/$(((fields[4] & 255) | (fields[4] >> 12 & -256)))"
}

__synapse_keep() {
  exec 4>&2 2>/dev/null
  # Handlers, since the shells would inherit ignored signals.
  trap : HUP INT QUIT TERM USR1 USR2 ALRM PIPE VTALRM PROF XCPU XFSZ TSTP TTIN TTOU
  trap __synapse_resize WINCH
  printf 'K%s\0' $$ >&3
  __synapse_start
  cd /
  # The second process of a PID namespace ends with the first, as do all others; no guard is needed.
  if (( $$ != 2 )); then
    __synapse_guard </dev/null >/dev/null 4>&- &
    __synapse_guard=$!
  fi
  while :; do
    # `script` stops itself when the shell was stopped. With job control, `wait` returns then.
    if [[ $__synapse_terminal ]]; then set -m; fi
    while wait "$__synapse_shell"; __synapse_code=$?; kill "-${__synapse_terminal:-0}" "$__synapse_shell"; do :; done
    set +m
    printf 'E%s\0' "$__synapse_code" >&3
    # What the last shell has not read is not for the next one.
    while [[ ${__synapse_line-} != "$__synapse_token" ]]; do
      TMOUT='' IFS='' read -r __synapse_line || break 2
    done
    __synapse_line=''
    __synapse_start
  done
  printf Q >&3
  # The guard knows whether the Synapse process is dead, has ended the input, or acknowledges this end.
  if [[ ${__synapse_guard-} ]]; then
    while kill -0 "$__synapse_guard"; do wait "$__synapse_guard"; done
  fi
  exit "$__synapse_code"
}

if __synapse_greeted; then __synapse_keep; else exec "$BASH" --norc --noprofile --noediting -i 3>&-; fi
