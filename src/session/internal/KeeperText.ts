export const keeper = `__synapse_next() { TMOUT='' IFS='' read -r -d '' "$@"; }
__synapse_greeted() {
  __synapse_next -t 10 -u 3 __synapse_word && [[ $__synapse_word == synapse-keeper ]] &&
    __synapse_next -u 3 __synapse_token && __synapse_next -u 3 __synapse_directory
} 2>/dev/null
__synapse_fields() {
  local stat=''
  __synapse_next stat <"/proc/$1/stat"
  fields=(\${stat##*)})
}
__synapse_is_ours() {
  local limits='' variable
  if (( $2 > 1 && fields[3] == $2 )); then return 0; fi
  __synapse_next limits <"/proc/$1/limits"
  limits=(\${limits##*realtime timeout})
  if [[ \${limits[0]-} == [0-9]* ]] && (( limits[0] >> 28 == 16#4\${SYNAPSE_SESSION:0:7} )); then return 0; fi
  while __synapse_next variable; do
    if [[ $variable == "SYNAPSE_SESSION=$SYNAPSE_SESSION" ]]; then return 0; fi
  done <"/proc/$1/environ"
  return 1
}
__synapse_freeze() {
  local pass pid again=yes fields
  local -A seen=()
  for (( pass = 0; pass < 100; pass++ )); do
    if [[ ! $again ]]; then break; fi
    again=''
    for pid in /proc/[0-9]*; do
      pid=\${pid#/proc/}
      if [[ \${seen[$pid]-} ]] || (( pid == BASHPID || pid == $$ )); then continue; fi
      seen[$pid]=yes
      __synapse_fields "$pid"
      if [[ \${fields[0]-Z} == [ZX] ]] && (( \${fields[17]-0} < 2 )); then again=yes; continue; fi
      if ! __synapse_is_ours "$pid" "$1" || ! kill -STOP "$pid"; then continue; fi
      again=yes
      frozen+=("$pid")
      if (( fields[2] > 1 && fields[2] != $2 )); then
        kill -STOP -- "-\${fields[2]}"
        frozen+=("-\${fields[2]}")
      fi
    done
  done
}
__synapse_guard() {
  local order directories=("$__synapse_directory") fields own pass frozen
  while __synapse_next -u 3 order; do
    if [[ $order == quit ]]; then exit; fi
    directories+=("$order")
  done
  __synapse_fields self
  own=("\${fields[@]}")
  for (( pass = 0; pass < 500; pass++ )); do
    frozen=()
    __synapse_freeze "\${own[3]}" "\${own[2]}"
    if (( \${#frozen[@]} == 0 )) || ! kill -KILL -- "\${frozen[@]}"; then break; fi
  done
  kill -KILL $$
  command -p rm -rf -- "\${directories[@]}"
}
__synapse_start() {
  set -m
  (SHLVL=$((SHLVL - 1)); exec "$BASH" --norc --noprofile --noediting -i 2>&4 3>&- 4>&-) &
  __synapse_shell=$!
  set +m
}
__synapse_keep() {
  exec 4>&2 2>/dev/null
  trap : HUP INT QUIT TERM USR1 USR2 ALRM PIPE VTALRM PROF XCPU XFSZ TSTP TTIN TTOU
  printf 'K%s\\0' $$ >&3
  __synapse_start
  cd /
  if (( $$ != 2 )); then
    __synapse_guard </dev/null >/dev/null 4>&- &
    __synapse_guard=$!
  fi
  while :; do
    while wait "$__synapse_shell"; __synapse_code=$?; kill -0 "$__synapse_shell"; do :; done
    printf 'E%s\\0' "$__synapse_code" >&3
    while [[ \${__synapse_line-} != "$__synapse_token" ]]; do
      TMOUT='' IFS='' read -r __synapse_line || break 2
    done
    __synapse_line=''
    __synapse_start
  done
  printf Q >&3
  if [[ \${__synapse_guard-} ]]; then
    while kill -0 "$__synapse_guard"; do wait "$__synapse_guard"; done
  fi
  exit "$__synapse_code"
}
if __synapse_greeted; then __synapse_keep; else exec "$BASH" --norc --noprofile --noediting -i 3>&-; fi
`
