# The caller's side of a call, with its rights: does what it is told to, until it is told to end. `$1` is the slot.
#
# Descriptors: 40 `down`; 41 `answer`; 42 the caller's standard input; 43 a file that is read; 44 a temporary file; 46 `ask`,
# open as long as the caller lives, which says so to the other side: no child may hold it. With a limit of 47, bash itself
# takes 45, for this file. They are high enough not to be a user's, and low enough for most limits: a caller's own must be
# there for what it reads and writes (`read <(command)`).
PATH=/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin LC_ALL=C
slot=@directory@/slot-$1
exec 41<"$slot-answer" || exit
# It may be closed.
{ exec 42<&0; } 2>/dev/null || exec 42</dev/null
old='' failed=0
temporary='' target='' inplace='' mode='' file='' poured='' pumps=()
# What `next` reads.
what='' to='' text='' path='' skip='' regular='' code=''
next() { IFS= read -r -d '' -u 41 "$@"; }
reply() { printf '%s\0' "$1" "${2-}" >&46; }
# The system's own words at the end of a message.
words() { said=${1%%$'\n'*}; said=${said##*: }; }
discard() {
  if [[ $temporary ]]; then
    exec 44>&-
    rm -f -- "$temporary"
    temporary=
  fi
}
# Run by the trap.
# shellcheck disable=SC2317
leave() {
  if [[ $old ]]; then
    cat -- "$old" >|"$target" 46>&- 41<&- 42<&-
    rm -f -- "$old"
  fi
  if (( ${#pumps[@]} )); then kill "${pumps[@]}" 2>/dev/null; fi
  discard
}
trap leave EXIT
refuse() {
  words "$2"
  case $said in
    'No such file or directory' | 'Not a directory') reply missing "$said" ;;
    'Permission denied' | 'Read-only file system' | 'Operation not permitted' | 'Device or resource busy') reply denied "$said" ;;
    'Is a directory') reply directory "$said" ;;
    *) reply io "${said:-$1}" ;;
  esac
}
# Whether a file may keep its reader waiting for ever: a named pipe, a device, a log of the kernel's. What the caller hands over
# by its descriptor (`read <(command)`) is waited for, unless only regular files will do.
endless() {
  if [[ $1 -ef /proc/kmsg || ${1##*/} == trace_pipe ]]; then return 0; fi
  if [[ ! -e $1 || -f $1 ]]; then return 1; fi
  if [[ $2 ]]; then return 0; fi
  [[ ! -S $1 && ( $1 != @(/dev/stdin|/dev/fd/*|/proc/self/fd/*) || -c $1 && ! $1 -ef /dev/null ) ]]
}
open() {
  if [[ -d $1 ]]; then
    reply directory 'Is a directory'
  elif endless "$1" "$3"; then
    reply special 'not a regular file'
  elif [[ -r $1 ]] && { exec 43<"$1"; } 2>/dev/null; then
    if (( $2 )); then
      tail -n "+$(($2 + 1))" <&43 >"$slot-up" 46>&- 41<&- 42<&- &
    else
      cat <&43 >"$slot-up" 46>&- 41<&- 42<&- &
    fi
    file=$! pumps+=($!)
    exec 43<&-
    reply ok
  else
    refuse 'could not be opened' "$(cat -- "$1" 2>&1 >/dev/null 46>&- 41<&- 42<&-)"
  fi
}
# Sets `target` to what a path leads to, with a slash in it: programs take a `-` for their input. A name may end in a newline,
# so that no `$(…)` will do.
resolve() {
  target=$1
  if [[ -L $1 ]]; then
    IFS= read -r -d '' target < <(readlink -fz -- "$1" 46>&- 41<&- 42<&-)
  elif [[ $1 && $1 != */* ]]; then
    target=./$1
  fi
}
# Tells by what a file can be known, under all of its names: by its directory and its name there, which stay when it is
# replaced; and where it has several (hard links), by itself.
identify() {
  local directory=. lines
  resolve "$1"
  if [[ $target == */* ]]; then directory=${target%/*}/; fi
  lines=$(stat -L -c '%d:%i %h' -- "$directory" "$target" 2>/dev/null 46>&- 41<&- 42<&-)
  local place=${lines%%$'\n'*} itself=''
  if [[ $lines == *$'\n'* && $lines != *' 1' ]]; then itself=${lines##*$'\n'}; fi
  reply ok "${place:+${place%% *}/${target##*/}}/${itself%% *}"
}
# Before there is a new file, everything that will stand against it is found out.
begin() {
  target=$1 inplace=''
  if [[ $target == */ || -d $target ]]; then reply directory 'Is a directory'; return; fi
  if ! resolve "$1"; then
    reply io 'a symbolic link that leads nowhere'
    return
  fi
  if [[ -e $1 && ! -f $1 ]]; then reply special 'not a regular file'; return; fi
  # By way of a descriptor.
  if [[ -e $1 && ! $1 -ef $target ]]; then reply io 'a file that was deleted'; return; fi
  local directory=. error
  if [[ $target == */* ]]; then directory=${target%/*}/; fi
  if [[ -e $target ]]; then
    if [[ ! -w $target ]] && ! error=$({ : >>"$target"; } 2>&1); then refuse 'could not be written' "$error"; return; fi
  elif [[ ! -d $directory ]]; then
    if ! error=$(mkdir -p -- "$directory" 2>&1 46>&- 41<&- 42<&-); then refuse 'its directory could not be made' "$error"; return; fi
  fi
  # Until it has the old one's mode, nobody else may read it.
  local mask
  if [[ -e $target || $mode == [0-7]* ]]; then mask=$(umask) && umask 077; fi
  local base=${target##*/}
  temporary=$directory/.${base:0:100}.$RANDOM$RANDOM$$
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
# A directory that can't be written, or holds a mount of that name: the content waits in another until it is whole.
elsewhere() {
  inplace=yes
  if temporary=$(mktemp --tmpdir .synapse.XXXXXXXXXX 2>/dev/null 46>&- 41<&- 42<&-) && { exec 44>|"$temporary"; } 2>/dev/null; then
    reply ok
  else
    temporary=
    reply denied 'neither its directory nor the one for temporary files can be written'
  fi
}
# What comes down goes there, to its end.
pour() {
  exec 40<"$slot-down"
  cat <&40 >&"$1" 46>&- 41<&- 42<&- 44>&- &
  poured=$! pumps+=($!)
  exec 40<&-
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
# As it was, but for its content: the mode, the owner, and what else can be kept. A file with several names is not.
alike() {
  local both
  cp --attributes-only --preserve=mode,ownership,xattr -- "$target" "$temporary" 2>/dev/null 46>&- 41<&- 42<&-
  both=$(stat -c '%a %u %g %h' -- "$target" "$temporary" 2>/dev/null 46>&- 41<&- 42<&-)
  [[ $both && "${both%%$'\n'*}" == "${both##*$'\n'}" ]]
}
commit() {
  local error
  if [[ ! $inplace && -e $target ]] && ! alike; then inplace=yes; fi
  local changed=$temporary
  if [[ $inplace ]]; then changed=$target; fi
  if [[ $mode ]] && ! error=$(chmod -- "$mode" "$changed" 2>&1 46>&- 41<&- 42<&-); then
    discard
    refuse 'its mode could not be changed' "$error"
    return
  fi
  if [[ ! $inplace ]]; then
    if error=$(mv -fT -- "$temporary" "$target" 2>&1 46>&- 41<&- 42<&-); then
      exec 44>&-
      temporary=
      reply ok
      return
    fi
    if [[ $error != *busy* ]]; then discard; refuse 'could not be replaced' "$error"; return; fi
  fi
  over
}
# Where a file can't be replaced, its content can: with the old one at hand, should that fail. Who asks to end waits for it.
over() {
  local error
  trap '' HUP INT TERM
  if ! old=$(mktemp --tmpdir .synapse.XXXXXXXXXX 2>/dev/null 46>&- 41<&- 42<&-) || ! error=$(cp -- "$target" "$old" 2>&1 46>&- 41<&- 42<&-); then
    if [[ $old ]]; then rm -f -- "$old"; fi
    old=
    discard
    refuse 'could not be kept' "${error-}"
  elif error=$({ cat -- "$temporary" >|"$target"; } 2>&1 46>&- 41<&- 42<&-); then
    rm -f -- "$old"
    old=
    discard
    reply ok
  else
    cat -- "$old" >|"$target" 46>&- 41<&- 42<&-
    rm -f -- "$old"
    old=
    discard
    refuse 'could not be written' "$error"
  fi
  trap - HUP INT TERM
}
remove() {
  local error
  if [[ -d $1 && ! -L $1 ]]; then
    reply directory 'Is a directory'
  elif [[ -L $1 || -e $1 && ! -f $1 ]]; then
    reply special 'not a regular file'
  elif error=$(rm -- "$1" 2>&1 46>&- 41<&- 42<&- </dev/null); then
    reply ok
  else
    refuse 'could not be removed' "$error"
  fi
}
mode() {
  local known
  if known=$(stat -L -c %a -- "$1" 2>&1 46>&- 41<&- 42<&-); then reply ok "$known"; else refuse 'its mode is not known' "$known"; fi
}
while next what; do
  case $what in
    say) next to && next text && { printf %s "$text" >&"$to" || failed=1; } ;;
    pour) next to && pour "$to" ;;
    poured) wait "$poured" 2>/dev/null; reply ok "$?" ;;
    input) cat <&42 >"$slot-input" 46>&- 41<&- 42<&- & pumps+=($!) ;;
    open) next path && next skip && next regular && open "$path" "$skip" "$regular" ;;
    close) wait "$file" 2>/dev/null; reply ok "$?" ;;
    identify) next path && identify "$path" ;;
    begin) next path && next mode && begin "$path" ;;
    written) written ;;
    commit) commit ;;
    discard) discard; reply ok ;;
    remove) next path && remove "$path" ;;
    mode) next path && mode "$path" ;;
    exit) next code && exit "$((code ? code : failed))" ;;
  esac
done
exit 1
