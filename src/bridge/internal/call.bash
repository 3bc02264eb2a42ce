# Calls the Synapse command `$1` with the words after it. The stub goes on from there.
#
# Sourced by a subshell, so that nothing of it stays. If the shell is killed, its message shows only one line of this file.
# Descriptor 46 is `ask`, the highest that a call uses: if it can be opened, all can. `@directory@` stands for the session's
# directory, quoted.
__synapse='' __synapse_forged=0
{
  {
    # A byte that names no slot is not a ticket: a command has written it into the pipe.
    while \builtin read -t 60 -rN1 __synapse && [[ ! -p @directory@/slot-"$__synapse"-ask ]]; do
      __synapse='' __synapse_forged=$((__synapse_forged + 1))
      (( __synapse_forged < 100000 )) || \builtin break
    done <@directory@/tickets
    [[ $__synapse ]] && \builtin printf %s "$__synapse" >&46
  } 46<>@directory@/calls || __synapse=
} 2>/dev/null
if [[ ! $__synapse ]]; then
  if [[ ! -p @directory@/calls || ! -p @directory@/tickets ]]; then
    \builtin printf '%s: not run: a command has deleted the pipes of Synapse; the next call has new ones\n' "$1" >&2
  elif (( __synapse_forged )); then
    \builtin printf '%s: not run: a command writes into the pipes of Synapse: try again when it has ended\n' "$1" >&2
  elif { { :; } 46</dev/null; } 2>/dev/null; then
    \builtin printf '%s: not run: too many commands of Synapse at once: try again\n' "$1" >&2
  else
    \builtin printf '%s: not run: the shell may open too few files (ulimit -n), 64 are enough: restart=true starts a new shell\n' "$1" >&2
  fi
  \builtin exit 126
fi
{
  if [[ ! -e /dev/stdin || /dev/stdin -ef /dev/null || -t 0 ]]; then __synapse_input=none; else __synapse_input=some; fi
  # Output into one of the session's own pipes is shown in the result. Any other goes on.
  __synapse_output=away __synapse_pair=0
  while [[ -p @directory@/${__synapse_pair}o ]]; do
    if [[ /dev/stdout -ef @directory@/${__synapse_pair}o || /dev/stdout -ef @directory@/${__synapse_pair}e ]]; then
      __synapse_output=shown
      \builtin break
    fi
    __synapse_pair=$((__synapse_pair + 1))
  done
  # The first field is the mark of the calling command, if the shell knows that limit.
  # Synapse closes the pipe if a request is too long. bash would go on writing byte by byte, so long words are written
  # by a process of their own, which ends.
  __synapse_words=$*
  if (( ${#__synapse_words} < 1000000 )); then
    \builtin trap '' PIPE
    \builtin ulimit -SR >&46
    \builtin printf '%s\0' "" "$PWD" "$__synapse_input" "$__synapse_output" "$#" "$@" >&46
  else
    ( \builtin printf '%s\0' "" "$PWD" "$__synapse_input" "$__synapse_output" "$#" "$@" >&46 )
  fi 2>/dev/null || {
    \builtin printf '%s: not run: its words are too long, more than 16 MiB at once: use a pipe, a here-document or a file\n' "$1" >&2
    \builtin exit 1
  }
  \builtin trap - PIPE
  # bash reads locale files at its start unless the locale is C, so the caller's own is passed separately. If it is
  # readonly, the stub sets C.
  __synapse_words=(/bin/bash --norc --noprofile -p @directory@/stub "$__synapse" "$1" "${LC_ALL-}" "${LC_ALL@a}")
  if [[ ${LC_ALL@a} != *r* ]]; then LC_ALL=C \builtin exec "${__synapse_words[@]}"; fi
  \builtin exec "${__synapse_words[@]}"
} 46>@directory@/slot-"$__synapse-ask"
\builtin exit 126
