/**
 * The bash of the bridge, made of the `.bash` files beside this one: change those, and then run
 * `npx vitest run test/bridge/BashText.test.ts -u`.
 *
 * @since 0.1.0
 */

/**
 * The file `call.bash`, without its comments.
 *
 * @since 0.1.0
 * @category texts
 */
export const call = `{
  if ! { \\builtin read -t 60 -rN1 __synapse <@directory@/tickets && \\builtin printf %s "$__synapse" >&40; }; then
    \\builtin printf '%s: too many commands of Synapse at once, or its pipes are gone: try again\\n' "$1" >&2
    \\builtin exit 126
  fi
} 40<>@directory@/calls
{
  if [[ ! -e /dev/stdin || /dev/stdin -ef /dev/null ]]; then
    \\builtin printf '%s\\0' "$PWD" none "$#" "$@" >&40
  else
    \\builtin printf '%s\\0' "$PWD" some "$#" "$@" >&40
  fi
  \\builtin exec /bin/bash --norc --noprofile -p @directory@/stub "$__synapse"
} 40>@directory@/slot-"$__synapse-ask"
\\builtin exit 126
`

/**
 * The file `functions.bash`, without its comments.
 *
 * @since 0.1.0
 * @category texts
 */
export const functions = `__synapse_call() ( { \\builtin local -; \\builtin set +vxeuC; } 2>/dev/null; \\builtin . @directory@/call "$@" )
`

/**
 * The file `program.bash`, without its comments.
 *
 * @since 0.1.0
 * @category texts
 */
export const program = `#!/bin/bash -p
\\builtin . @directory@/call "\${0##*/}" "$@"
`

/**
 * The file `read.bash`, without its comments.
 *
 * @since 0.1.0
 * @category texts
 */
export const read = `__synapse_are_names() {
  while (( $# )); do
    [[ $1 == [a-zA-Z_]* ]] || \\builtin return 1
    case \${1%%\\[*\\]} in *[!a-zA-Z0-9_]*) \\builtin return 1 ;; esac
    \\builtin shift
  done
}
__synapse_is_said() {
  case $(<@directory@/command) in
    *while* | *until*) \\builtin return 1 ;;
    *read*) \\builtin return 0 ;;
    *) \\builtin return 1 ;;
  esac
}
read() {
  case \${1-} in
    -h | --help | --offset* | --limit*) __synapse_call read "$@" ;;
    --) if __synapse_are_names "\${@:2}"; then \\builtin read "$@"; else __synapse_call read "$@"; fi ;;
    -*) \\builtin read "$@" ;;
    *)
      if ! __synapse_are_names "$@"; then
        __synapse_call read "$@"
      elif [[ /dev/stdin -ef /dev/null ]] && __synapse_is_said; then
        __synapse_call read "$@"
      else
        \\builtin read "$@"
      fi ;;
  esac
}
\\builtin export -f read __synapse_are_names __synapse_is_said __synapse_call
`

/**
 * The file `stub.bash`, without its comments.
 *
 * @since 0.1.0
 * @category texts
 */
export const stub = `PATH=/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin LC_ALL=C
slot=@directory@/slot-$1
exec 41<"$slot-answer" || exit
{ exec 42<&0; } 2>/dev/null || exec 42</dev/null
old='' failed=0
temporary='' target='' inplace='' file='' poured='' pumps=()
what='' to='' text='' path='' skip='' regular='' code=''
next() { IFS= read -r -d '' -u 41 "$@"; }
reply() { printf '%s\\0' "$1" "\${2-}" >&40; }
words() { said=\${1%%$'\\n'*}; said=\${said##*: }; }
discard() {
  if [[ $temporary ]]; then
    exec 44>&-
    rm -f -- "$temporary"
    temporary=
  fi
}
leave() {
  if [[ $old ]]; then
    cat -- "$old" >|"$target" 40>&- 41<&- 42<&-
    rm -f -- "$old"
  fi
  if (( \${#pumps[@]} )); then kill "\${pumps[@]}" 2>/dev/null; fi
  discard
}
trap leave EXIT
refuse() {
  words "$2"
  case $said in
    'No such file or directory' | 'Not a directory') reply missing "$said" ;;
    'Permission denied' | 'Read-only file system' | 'Operation not permitted' | 'Device or resource busy') reply denied "$said" ;;
    'Is a directory') reply directory "$said" ;;
    *) reply io "\${said:-$1}" ;;
  esac
}
open() {
  if [[ -d $1 ]]; then
    reply directory 'Is a directory'
  elif [[ $3 && -e $1 && ! -f $1 ]]; then
    reply special 'not a regular file'
  elif [[ -r $1 ]] && { exec 43<"$1"; } 2>/dev/null; then
    if (( $2 )); then
      tail -n "+$(($2 + 1))" <&43 >"$slot-up" 40>&- 41<&- 42<&- &
    else
      cat <&43 >"$slot-up" 40>&- 41<&- 42<&- &
    fi
    file=$! pumps+=($!)
    exec 43<&-
    reply ok
  else
    refuse 'could not be opened' "$(cat -- "$1" 2>&1 >/dev/null 40>&- 41<&- 42<&-)"
  fi
}
begin() {
  target=$1 inplace=''
  if [[ $target == */ || -d $target ]]; then reply directory 'Is a directory'; return; fi
  if [[ -L $target ]] && ! target=$(readlink -f -- "$1"); then
    reply io 'a symbolic link that leads nowhere'
    return
  fi
  if [[ -e $target && ! -f $target ]]; then reply special 'not a regular file'; return; fi
  local directory=. error
  if [[ $target == */* ]]; then directory=\${target%/*}/; fi
  if [[ -e $target ]]; then
    if [[ ! -w $target ]] && ! error=$({ : >>"$target"; } 2>&1); then refuse 'could not be written' "$error"; return; fi
  elif [[ ! -d $directory ]]; then
    if ! error=$(mkdir -p -- "$directory" 2>&1 40>&- 41<&- 42<&-); then refuse 'its directory could not be made' "$error"; return; fi
  fi
  local mask
  if [[ -e $target ]]; then mask=$(umask) && umask 077; fi
  local base=\${target##*/}
  temporary=$directory/.\${base:0:100}.$RANDOM$RANDOM$$
  set -C
  if ! { exec 44>"$temporary"; } 2>/dev/null; then
    if [[ ! -e $target ]]; then
      error=$({ : >"$temporary"; } 2>&1)
      temporary=
      refuse 'could not be made' "$error"
    else
      elsewhere
    fi
  else
    reply ok
  fi
  set +C
  if [[ $mask ]]; then umask "$mask"; fi
}
elsewhere() {
  inplace=yes
  if temporary=$(mktemp --tmpdir .synapse.XXXXXXXXXX 2>/dev/null 40>&- 41<&- 42<&-) && { exec 44>|"$temporary"; } 2>/dev/null; then
    reply ok
  else
    temporary=
    reply denied 'neither its directory nor the one for temporary files can be written'
  fi
}
pour() {
  exec 45<"$slot-down"
  cat <&45 >&"$1" 40>&- 41<&- 42<&- 44>&- &
  poured=$! pumps+=($!)
  exec 45<&-
  reply ok
}
written() {
  if wait "$poured" 2>/dev/null; then
    reply ok
  else
    local error
    error=$({ printf . >&44; } 2>&1)
    discard
    refuse 'could not be written' "$error"
  fi
}
alike() {
  local both
  cp --attributes-only --preserve=mode,ownership,xattr -- "$target" "$temporary" 2>/dev/null 40>&- 41<&- 42<&-
  both=$(stat -c '%a %u %g' -- "$target" "$temporary" 2>/dev/null 40>&- 41<&- 42<&-)
  [[ $both && "\${both%%$'\\n'*}" == "\${both##*$'\\n'}" ]]
}
commit() {
  local error
  if [[ ! $inplace && -e $target ]] && ! alike; then inplace=yes; fi
  if [[ ! $inplace ]]; then
    if error=$(mv -fT -- "$temporary" "$target" 2>&1 40>&- 41<&- 42<&-); then
      exec 44>&-
      temporary=
      reply ok
      return
    fi
    if [[ $error != *busy* ]]; then discard; refuse 'could not be replaced' "$error"; return; fi
  fi
  over
}
over() {
  local error
  trap '' HUP INT TERM
  if ! old=$(mktemp --tmpdir .synapse.XXXXXXXXXX 2>/dev/null 40>&- 41<&- 42<&-) || ! error=$(cp -- "$target" "$old" 2>&1 40>&- 41<&- 42<&-); then
    if [[ $old ]]; then rm -f -- "$old"; fi
    old=
    discard
    refuse 'could not be kept' "\${error-}"
  elif error=$({ cat -- "$temporary" >|"$target"; } 2>&1 40>&- 41<&- 42<&-); then
    rm -f -- "$old"
    old=
    discard
    reply ok
  else
    cat -- "$old" >|"$target" 40>&- 41<&- 42<&-
    rm -f -- "$old"
    old=
    discard
    refuse 'could not be written' "$error"
  fi
  trap - HUP INT TERM
}
while next what; do
  case $what in
    say) next to && next text && { printf %s "$text" >&"$to" || failed=1; } ;;
    pour) next to && pour "$to" ;;
    poured) wait "$poured" 2>/dev/null; reply ok "$?" ;;
    input) cat <&42 >"$slot-input" 40>&- 41<&- 42<&- & pumps+=($!) ;;
    open) next path && next skip && next regular && open "$path" "$skip" "$regular" ;;
    close) wait "$file" 2>/dev/null; reply ok "$?" ;;
    begin) next path && begin "$path" ;;
    written) written ;;
    commit) commit ;;
    discard) discard; reply ok ;;
    exit) next code && exit "$((code ? code : failed))" ;;
  esac
done
exit 1
`
