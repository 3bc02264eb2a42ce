# shellcheck shell=bash disable=SC2034,SC2154
# The functions of the stub for files that are written. They use its variables.
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
# Before there is a new file, everything that will stand against it is found out.
begin() {
  local several=${3-}
  target=$1 inplace=''
  if [[ $target == */ || -d $target ]]; then reply directory 'Is a directory'; return; fi
  if ! resolve "$1"; then
    reply io 'a symbolic link that leads nowhere'
    return
  fi
  if [[ -e $1 && ! -f $1 ]]; then reply special 'not a regular file'; return; fi
  # By way of a descriptor.
  if [[ -e $1 && ! $1 -ef $target ]]; then reply io 'a file that was deleted'; return; fi
  local error one
  if [[ $several ]]; then
    for one in "${targets[@]}"; do
      if [[ $one == "$target" || $one -ef $target ]]; then reply io "the same file as ${one#./}"; return; fi
    done
  fi
  directory=./
  if [[ $target == */* ]]; then directory=${target%/*}/; fi
  if [[ -e $target ]]; then
    if [[ ! -w $target ]] && ! error=$({ : >>"$target"; } 2>&1); then refuse 'could not be written' "$error"; return; fi
  elif [[ ! -d $directory ]]; then
    missing
    if ! error=$(exec mkdir -p -- "$directory" 2>&1 46>&- 41<&- 42<&-); then
      if [[ ! $several ]]; then discard; fi
      refuse 'its directory could not be made' "$error"
      return
    fi
  fi
  if [[ $several ]]; then
    if room "$directory"; then
      temporary=$room/new/${target##*/}
      if error=$({ : >"$temporary"; } 2>&1) && { exec 44>"$temporary"; } 2>/dev/null; then reply ok; return; fi
    fi
    temporary=
    if [[ -e $target ]]; then elsewhere; else refuse 'could not be made' "$error"; fi
    return
  fi
  # Until it has the old one's mode, nobody else may read it.
  local mask
  if [[ -e $target || $mode == [0-7]* ]]; then masked; fi
  local base=${target##*/}
  temporary=$directory/.${base:0:100}.$RANDOM$RANDOM$$
  set -C
  if ! { exec 44>"$temporary"; } 2>/dev/null; then
    if [[ ! -e $target ]]; then
      error=$({ : >"$temporary"; } 2>&1)
      temporary=
      discard
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
# Sets `mask` to the umask, and that to 077. A pipe takes it without a process.
masked() {
  exec 40<>"$slot-down"
  umask >&40
  IFS= read -r -u 40 mask
  exec 40<&-
  umask 077
}
# A short content comes in the dialog, also where no file could be begun: descriptor 44 may be the caller's own then.
put() {
  if [[ ! $temporary ]]; then
    reply io 'it was not begun'
  elif printf %s "$1" >&44; then reply ok; else unwritten; fi
} 2>/dev/null
commit() {
  if [[ ! $temporary ]]; then reply io 'it could not be written'; return; fi
  exchange
}
