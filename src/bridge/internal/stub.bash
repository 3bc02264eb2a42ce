# The caller's side of a call. Does what it is told with the caller's rights, until it is told to end. `$1` is the slot, `$2`
# the command, `$3` the caller's LC_ALL, and `$4` the attributes of that variable (`x`: exported).
#
# Descriptors: 40 `down`; 41 `answer`; 42 the caller's standard input; 43 a file being read; 44 a temporary file; 46 `ask`.
# `ask` tells Synapse that the caller lives, so no child may hold it. With a limit of 47, bash itself uses 45 for this file.
# The numbers are high enough not to be a user's, and low enough for most limits. A caller's own descriptors must stay usable
# for what it reads and writes (`read <(command)`).
callers=("$PATH" "${3-}" "${4-}")
PATH=/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin
# Programs that read no locale start in four fifths of the time.
export LC_ALL=C
slot=@directory@/slot-$1 command=${2-}
exec 41<"$slot-answer" || exit
# It may be closed.
{ exec 42<&0; } 2>/dev/null || exec 42</dev/null
failed=0
temporary='' target='' inplace='' mode='' file='' poured='' pumps=()
# Directories made for unfinished changes, the innermost first, and all files made beside others.
made=() scraps=()
# The prepared files by index: their new contents (none for a removal), and copies of the old ones.
targets=() temporaries=() modes=() inplaces=() backups=()
# Set by `next`.
what='' to='' text='' path='' skip='' regular='' code='' count=''
next() { IFS= read -r -d '' -u 41 "$1"; }
# Reads a number of bytes without zero bytes.
take() { IFS= read -r -N "$1" -u 41 text; }
reply() { printf '%s\0' "$1" "${2-}" >&46; }
# Sets `said` to the system's own words at the end of a message.
words() { said=${1%%$'\n'*}; said=${said##*: }; }
# Calls a function of the file `rest`, which replaces the one here. A command that surely needs it has it at once.
rest() { . @directory@/rest && "$@"; }
unsaid() { rest unsaid; }
refuse() { rest refuse "$@"; }
unwritten() { rest unwritten; }
begin() { rest begin "$@"; }
doom() { rest doom "$@"; }
within() { rest within "$@"; }
mode() { rest mode "$@"; }
become() { rest become; }
if [[ ${2-} == @(edit|write) ]]; then . @directory@/rest; fi
discard() {
  local left=() one
  if [[ $temporary ]]; then exec 44>&-; fi
  for one in "${scraps[@]}"; do
    if [[ -e $one ]]; then left+=("$one"); fi
  done
  if (( ${#left[@]} )); then rm -f -- "${left[@]}" 46>&- 41<&- 42<&-; fi
  if (( ${#made[@]} )); then rmdir -- "${made[@]}" 2>/dev/null 46>&- 41<&- 42<&-; fi
  temporary='' scraps=() made=() targets=() temporaries=() modes=() inplaces=() backups=()
}
# Run by the trap.
# shellcheck disable=SC2317
leave() {
  trap '' HUP INT TERM
  if (( ${#pumps[@]} )); then kill "${pumps[@]}" 2>/dev/null; fi
  discard
}
trap leave EXIT
# Tests whether a file could keep its reader waiting forever: a named pipe, a device, a kernel log. What the caller
# passes by its descriptor (`read <(command)`) may be waited for, unless only regular files will do.
endless() {
  if [[ $1 -ef /proc/kmsg || ${1##*/} == trace_pipe ]]; then return 0; fi
  if [[ ! -e $1 || -f $1 ]]; then return 1; fi
  if [[ $2 ]]; then return 0; fi
  [[ ! -S $1 && ( $1 != @(/dev/stdin|/dev/fd/*|/proc/self/fd/*) || -c $1 && ! $1 -ef /dev/null ) ]]
}
# Replies with a short text itself, unless it holds a zero byte. A file that can't be read leaves `text` unset.
open() {
  local text
  if [[ -d $1 ]]; then
    reply directory 'Is a directory'
  elif endless "$1" "$3"; then
    reply special 'not a regular file'
  elif [[ -r $1 ]] && { exec 43<"$1"; } 2>/dev/null; then
    if [[ $2 == 0 && -f $1 ]] && ! IFS= read -r -d '' -n 16000 -u 43 text 2>/dev/null && [[ ${text+read} ]]; then
      exec 43<&-
      reply text "$text"
      return
    fi
    if [[ $2 == 0 && -f $1 ]]; then { exec 43<"$1"; } 2>/dev/null; fi
    if (( $2 )); then
      tail -n "+$(($2 + 1))" <&43 >"$slot-up" 46>&- 41<&- 42<&- &
    else
      cat <&43 >"$slot-up" 46>&- 41<&- 42<&- &
    fi
    file=$! pumps+=($!)
    exec 43<&-
    reply ok
  else
    refuse 'could not be opened' "$(exec cat -- "$1" 2>&1 >/dev/null 46>&- 41<&- 42<&-)"
  fi
}
# bash's own message would name this file.
# shellcheck disable=SC2261
say() {
  if (( $1 == 1 )); then
    { printf %s "$2"; } 2>/dev/null || unsaid
  else
    printf %s "$2" >&"$1" 2>/dev/null || failed=1
  fi
}
# Copies everything from `down` to a descriptor.
pour() {
  exec 40<"$slot-down"
  if (( $1 == 44 )); then
    # `written` reports what went wrong.
    cat <&40 >&44 2>/dev/null 46>&- 41<&- 42<&- &
  else
    # Messages of `cat` carry the command's name.
    exec -a "$command" cat <&40 >&"$1" 46>&- 41<&- 42<&- 44>&- &
  fi
  poured=$! pumps+=($!)
  exec 40<&-
  reply ok
}
# Not in `rest`: bash would report the end of `cat` by a signal before it is waited for.
written() {
  if wait "$poured" 2>/dev/null; then reply ok; else unwritten; fi
}
while next what; do
  case $what in
    say) next to && next text && say "$to" "$text" ;;
    pour) next to && pour "$to" ;;
    poured) wait "$poured" 2>/dev/null; reply ok "$?" ;;
    input) cat <&42 >"$slot-input" 46>&- 41<&- 42<&- & pumps+=($!) ;;
    open) next path && next skip && next regular && open "$path" "$skip" "$regular" ;;
    close) wait "$file" 2>/dev/null; reply ok "$?" ;;
    begin) next path && next mode && begin "$path" ;;
    doom) next path && doom "$path" ;;
    within) next path && within "$path" ;;
    stage) stage ;;
    apply) apply ;;
    put) next count && take "$count" && put "$text" ;;
    written) written ;;
    discard) discard; reply ok ;;
    mode) next path && mode "$path" ;;
    become) become ;;
    exit) next code && exit "$((code ? code : failed))" ;;
  esac
done
exit 1
