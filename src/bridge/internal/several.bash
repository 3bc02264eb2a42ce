# Writes and removes several files, all or none; the stub sources it. New contents wait in a room, a directory of ours
# beside the files, from where one `mv` for each directory puts them in their places. Until that is done, no signal ends
# it. The room keeps what the files were, should it fail.
#
# shellcheck shell=bash disable=SC2034,SC2154
# By the file's number; a file that is removed has no temporary.
targets=() temporaries=() modes=() inplaces=() backups=()
# By the directory: the numbers of its files.
declare -gA members=()
# Backups that lie in no room.
kept=()
# Sets `room` to the room of a directory; fails with `error` where it can't be made.
room() {
  room=${rooms[$1]-}
  if [[ $room ]]; then return; fi
  rooms[$1]=${1%/}/.synapse.$RANDOM$RANDOM$$
  if error=$(exec mkdir -m 700 -- "${rooms[$1]}" "${rooms[$1]}/new" "${rooms[$1]}/old" 2>&1 46>&- 41<&- 42<&-); then
    room=${rooms[$1]}
  else
    rooms[$1]=
    return 1
  fi
}
member() {
  members[$1]+="${#targets[@]} "
  targets+=("$2") temporaries+=("$3") modes+=("$4") inplaces+=("$5") backups+=('')
  reply ok
}
# The new content of the file that was begun is whole.
stage() {
  if [[ ! $temporary ]]; then reply io 'it was not begun'; return; fi
  exec 44>&-
  if [[ $inplace ]]; then kept+=("$temporary"); fi
  member "$directory" "$target" "$temporary" "$mode" "$inplace"
  temporary=
}
doom() {
  target=$1
  if [[ $1 != */* ]]; then target=./$1; fi
  if [[ -d $1 && ! -L $1 ]]; then
    reply directory 'Is a directory'
  elif [[ -L $1 || -e $1 && ! -f $1 ]]; then
    reply special 'not a regular file'
  elif room "${target%/*}/"; then
    member "${target%/*}/" "$target" '' '' ''
  else
    refuse 'could not be removed' "$error"
  fi
}
# Tells by which link a relative path leads out of the current directory.
within() {
  local at='' rest=$1 home real
  while [[ $rest ]]; do
    at+=${rest%%/*}
    if [[ -L $at ]]; then
      IFS= read -r -d '' home < <(readlink -fz . 46>&- 41<&- 42<&-)
      IFS= read -r -d '' real < <(readlink -mz -- "$at" 46>&- 41<&- 42<&-)
      if [[ $real/ != "${home%/}"/* ]]; then
        reply ok "$at"
        return
      fi
    fi
    if [[ $rest != */* ]]; then break; fi
    rest=${rest#*/} at+=/
  done
  reply ok
}
# `index` says which file it failed on.
apply() {
  local directory index error=''
  for directory in "${!members[@]}"; do
    if prepare; then continue; fi
    refuse 'could not be prepared' "$error" "$index/"
    discard
    return
  done
  trap '' HUP INT TERM
  if overwrite && replace; then
    made=()
    discard
    reply ok
  else
    undo
    if [[ $lost ]]; then
      words "$error"
      reply partial "$index/$said; what was changed before is restored, but not $lost"
    else
      refuse 'could not be written' "$error" "$index/"
    fi
    discard
  fi
  trap - HUP INT TERM
}
# As they were, but for their content: the mode, the owner, and what else can be kept. A file where that can't be is
# overwritten, and so is one with several names. And a copy of each is made, or another link to it.
prepare() {
  local numbers=() theirs=() ours=() lines=() number=0 name
  for index in ${members[$directory]}; do
    if [[ -e ${targets[index]} && ${temporaries[index]} && ! ${inplaces[index]} ]]; then
      numbers+=("$index") theirs+=("${targets[index]}") ours+=("${temporaries[index]}")
    fi
  done
  if (( ${#numbers[@]} )); then
    cp --attributes-only --preserve=mode,ownership,xattr -t "${rooms[$directory]}/new" -- "${theirs[@]}" 2>/dev/null 46>&- 41<&- 42<&-
    mapfile -t lines < <(stat -c '%a %u %g %h' -- "${theirs[@]}" "${ours[@]}" 2>/dev/null 46>&- 41<&- 42<&-)
    index=${numbers[0]}
    if (( ${#lines[@]} != 2 * ${#numbers[@]} )); then error=': it was changed meanwhile'; return 1; fi
    for number in "${!numbers[@]}"; do
      if [[ ${lines[number]} != "${lines[number + ${#numbers[@]}]}" ]]; then inplaces[numbers[number]]=yes; fi
    done
  fi
  theirs=()
  for index in ${members[$directory]}; do
    if [[ ${modes[index]} && ! ${inplaces[index]} ]]; then
      error=$(exec chmod -- "${modes[index]}" "${temporaries[index]}" 2>&1 46>&- 41<&- 42<&-) || return
    fi
    if [[ -e ${targets[index]} ]]; then
      if [[ ${rooms[$directory]} ]]; then backups[index]=${rooms[$directory]}/old/${targets[index]##*/}; fi
      if [[ ! ${inplaces[index]} ]]; then theirs+=("${targets[index]}"); fi
    fi
  done
  if (( ${#theirs[@]} )); then ln -t "${rooms[$directory]}/old" -- "${theirs[@]}" 2>/dev/null 46>&- 41<&- 42<&-; fi
  for index in ${members[$directory]}; do
    if [[ -e ${targets[index]} && ! -e ${backups[index]} ]]; then
      if [[ ! ${backups[index]} ]]; then
        backups[index]=$(exec mktemp --tmpdir .synapse.XXXXXXXXXX 2>/dev/null 46>&- 41<&- 42<&-)
        kept+=("${backups[index]}")
      fi
      error=$(exec cp -p -- "${targets[index]}" "${backups[index]}" 2>&1 46>&- 41<&- 42<&-) || return
    fi
  done
}
# Gives the file `index` its new content where it is.
fill() {
  touched[index]=yes
  error=$({ cat -- "${temporaries[index]}" >|"${targets[index]}"; } 2>&1 46>&- 41<&- 42<&-) || return
  if [[ ${modes[index]} ]]; then error=$(exec chmod -- "${modes[index]}" "${targets[index]}" 2>&1 46>&- 41<&- 42<&-); fi
}
overwrite() {
  touched=()
  for index in "${!targets[@]}"; do
    if [[ ${inplaces[index]} ]]; then fill || return; fi
  done
}
replace() {
  local directory ours doomed
  for directory in "${!members[@]}"; do
    ours=()
    for index in ${members[$directory]}; do
      if [[ ${temporaries[index]} && ! ${inplaces[index]} ]]; then ours+=("${temporaries[index]}"); fi
    done
    if (( ! ${#ours[@]} )) || mv -f -t "$directory" -- "${ours[@]}" 2>/dev/null 46>&- 41<&- 42<&-; then continue; fi
    for index in ${members[$directory]}; do
      if [[ ! ${temporaries[index]} || ${inplaces[index]} || ! -e ${temporaries[index]} ]]; then continue; fi
      if error=$(exec mv -fT -- "${temporaries[index]}" "${targets[index]}" 2>&1 46>&- 41<&- 42<&-); then continue; fi
      # A mount can't be replaced.
      if [[ $error != *busy* ]]; then return 1; fi
      inplaces[index]=yes
      rm -f -- "${backups[index]}"
      error=$(exec cp -p -- "${targets[index]}" "${backups[index]}" 2>&1 46>&- 41<&- 42<&-) && fill || return
    done
  done
  for index in "${!targets[@]}"; do
    if [[ ! ${temporaries[index]} ]]; then
      # shellcheck disable=SC2217
      error=$(exec rm -- "${targets[index]}" 2>&1 46>&- 41<&- 42<&- </dev/null) || return
    fi
  done
}
# Gives the files back what they had; `lost` tells where this failed, and its copy stays.
undo() {
  local index target backup
  lost=
  for index in "${!targets[@]}"; do
    target=${targets[index]} backup=${backups[index]}
    if [[ ${touched[index]-} ]]; then
      { cat -- "$backup" >|"$target" && chmod --reference="$backup" -- "$target"; } 2>/dev/null 46>&- 41<&- 42<&- && continue
    elif [[ ${temporaries[index]} && ( ${inplaces[index]} || -e ${temporaries[index]} ) || ! ${temporaries[index]} && -e $target ]]; then
      continue
    elif [[ ! $backup ]]; then
      rm -f -- "$target" 2>/dev/null 46>&- 41<&- 42<&- && continue
    else
      mv -fT -- "$backup" "$target" 2>/dev/null 46>&- 41<&- 42<&- && continue
    fi
    lost=$target
    if [[ $backup ]]; then lost+=" (its old content is in $backup)"; fi
    kept=() rooms=()
  done
}
