/**
 * Commands that surely open the paths in their arguments, and which of their arguments are paths.
 *
 * What is not named here is not known: an option stands alone unless the tables say that it takes a value.
 *
 * @since 0.1.0
 */

/**
 * What is done to a path. `list`: a directory's names, or what is beneath it; a file's name and size only.
 *
 * @since 0.1.0
 * @category models
 */
export type Access = "read" | "write" | "list"

/**
 * Options are written without their dashes, one letter or a long name, with spaces between.
 *
 * @since 0.1.0
 * @category models
 */
export interface Opener {
  /** What is done to the operands. */
  readonly operands: Access | "none"
  /** What is done to the last of two or more. */
  readonly last?: Access
  /** How many operands at the front are no paths: a pattern, a mode. */
  readonly skip?: number
  /** The options that take the place of those. */
  readonly instead?: string
  /** How many operands are paths; the others are arguments of a script. */
  readonly count?: number
  /** Options whose value is no path that it opens. */
  readonly text?: string
  /** Options whose value is a path that it reads. */
  readonly reads?: string
  /** Options whose value is a path that it writes. */
  readonly writes?: string
  /** Options after which there are no paths any more. */
  readonly ends?: string
}

const reading = (options: Omit<Opener, "operands"> = {}): Opener => ({ operands: "read", ...options })
const writing = (options: Omit<Opener, "operands"> = {}): Opener => ({ operands: "write", ...options })
const script = (options: Omit<Opener, "operands" | "count">): Opener => ({ operands: "read", count: 1, ...options })
const copying: Opener = { operands: "read", last: "write", text: "S suffix Z", writes: "t target-directory" }

const grep = reading({
  skip: 1,
  instead: "e f regexp file",
  text: "e regexp m max-count A after-context B before-context C context d directories D devices label include exclude exclude-dir",
  reads: "f file exclude-from"
})
const awk = reading({
  skip: 1,
  instead: "f file e source E exec i include",
  text: "F field-separator v assign e source i include l load",
  reads: "f file E exec"
})
const checksum = reading()
const shell = script({ text: "o O", reads: "rcfile init-file", ends: "c" })
const editor = reading({ text: "c cmd T t q w W r L", reads: "u S s" })

/**
 * @since 0.1.0
 */
export const openers: Readonly<Record<string, Opener>> = {
  ".": script({}),
  awk,
  b2sum: checksum,
  base32: reading({ text: "w wrap" }),
  base64: reading({ text: "w wrap" }),
  bash: shell,
  bat: reading({ text: "l language H highlight-line r line-range style theme m map-syntax" }),
  bunzip2: reading(),
  bzip2: reading(),
  cat: reading(),
  chgrp: writing({ skip: 1, instead: "reference", reads: "reference" }),
  chmod: writing({ skip: 1, instead: "reference", reads: "reference" }),
  chown: writing({ skip: 1, instead: "reference", text: "from", reads: "reference" }),
  cksum: reading({ text: "a algorithm l length" }),
  cmp: reading({ text: "i ignore-initial n bytes" }),
  comm: reading({ text: "output-delimiter" }),
  cp: { ...copying, text: "S suffix" },
  cut: reading({ text: "b bytes c characters d delimiter f fields output-delimiter" }),
  dash: shell,
  diff: reading({
    text: "U C W x exclude F show-function-line I ignore-matching-lines L label D ifdef tabsize width horizon-lines unified context S starting-file line-format",
    reads: "X exclude-from from-file to-file"
  }),
  // What an agent edits with: texts follow the file.
  edit: writing({ count: 1 }),
  egrep: grep,
  emacs: reading({ text: "f funcall eval e t", reads: "l load" }),
  fgrep: grep,
  fold: reading({ text: "w width" }),
  gawk: awk,
  grep,
  gunzip: reading({ text: "S suffix" }),
  gzip: reading({ text: "S suffix" }),
  head: reading({ text: "n lines c bytes" }),
  hexdump: reading({ text: "n length s skip e format", reads: "f format-file" }),
  iconv: reading({ text: "f from-code t to-code", writes: "o output" }),
  install: { ...copying, text: "g group m mode o owner S suffix strip-program" },
  less: reading({ text: "b h j p P t x y z", reads: "k", writes: "o O" }),
  lua: script({ text: "l", ends: "e" }),
  mawk: awk,
  md5sum: checksum,
  mkdir: writing({ text: "m mode" }),
  more: reading({ text: "n lines" }),
  mv: { ...copying, operands: "write", text: "S suffix" },
  nano: reading({
    text: "C backupdir J guidestripe Q quotestr T tabsize X wordchars Y syntax o operatingdir r fill s speller"
  }),
  nl: reading({ text: "b body-numbering d f h i l n s v w" }),
  node: script({
    text: "C conditions input-type",
    reads: "r require import env-file env-file-if-exists",
    ends: "e eval p print"
  }),
  od: reading({ text: "A address-radix j skip-bytes N read-bytes S strings t format w width endian" }),
  paste: reading({ text: "d delimiters" }),
  perl: script({ ends: "e E" }),
  php: script({ text: "d z", reads: "c f", ends: "r B R" }),
  python: script({ text: "W X Q check-hash-based-pycs", ends: "c m" }),
  // Bash has one of the same name: `Operands` tells them apart.
  read: reading({ count: 1, text: "offset limit" }),
  rev: reading(),
  rg: reading({
    skip: 1,
    instead: "e f regexp file files",
    text: "e regexp m max-count A after-context B before-context C context g glob iglob t type T type-not r replace j threads E encoding M max-columns d max-depth sort sortr colors color",
    reads: "f file ignore-file"
  }),
  rm: writing(),
  rmdir: writing(),
  ruby: script({ text: "I r C E F x", ends: "e" }),
  sed: reading({ skip: 1, instead: "e f expression file", text: "e expression l line-length", reads: "f file" }),
  sh: shell,
  sha1sum: checksum,
  sha224sum: checksum,
  sha256sum: checksum,
  sha384sum: checksum,
  sha512sum: checksum,
  shred: writing({ text: "n iterations s size random-source" }),
  shuf: reading({ ends: "e echo i input-range", text: "n head-count random-source", writes: "o output" }),
  sort: reading({
    text: "k key t field-separator S buffer-size T temporary-directory parallel batch-size compress-program sort",
    reads: "files0-from random-source",
    writes: "o output"
  }),
  source: script({}),
  split: reading({
    count: 1,
    text: "a suffix-length b bytes C line-bytes l lines n number t separator additional-suffix filter"
  }),
  "ssh-add": reading({ text: "t E S H h", ends: "D" }),
  strings: reading({ text: "n bytes t radix e encoding T target s output-separator" }),
  tac: reading({ text: "s separator" }),
  tail: reading({ text: "n lines c bytes s sleep-interval pid max-unchanged-stats" }),
  tee: writing(),
  touch: writing({ text: "d date t time", reads: "r reference" }),
  truncate: writing({ text: "s size", reads: "r reference" }),
  unexpand: reading({ text: "t tabs" }),
  uniq: reading({ last: "write", text: "f skip-fields s skip-chars w check-chars" }),
  unlink: writing(),
  unxz: reading(),
  unzip: reading({ count: 1, ends: "x", text: "P", writes: "d" }),
  vi: editor,
  view: editor,
  vim: editor,
  nvim: editor,
  wc: reading({ reads: "files0-from" }),
  // What an agent writes with: the text follows the file.
  write: writing({ count: 1 }),
  xxd: reading({ last: "write", text: "c cols g groupsize l len n name o s seek R" }),
  xz: reading({ text: "T threads F format C check S suffix" }),
  zcat: reading(),
  zsh: shell,
  // What asks for names only.
  cd: { operands: "list" },
  dir: { operands: "list", text: "I ignore T tabsize w width hide" },
  du: { operands: "list", text: "d max-depth t threshold B block-size exclude", reads: "X exclude-from files0-from" },
  ls: { operands: "list", text: "I ignore T tabsize w width hide" },
  pushd: { operands: "list" },
  tree: { operands: "list", text: "L P I H T charset filelimit timefmt sort o" }
}

/** The names under which a program comes besides its own. */
const versioned = /^(python|pypy|perl|ruby|php|lua|node|nodejs)[\d.]*$/

/**
 * The entry of a program by the word that calls it.
 *
 * @since 0.1.0
 */
export const openerOf = (program: string): Opener | undefined => {
  const name = nameOf(program)
  return Object.hasOwn(openers, name) ? openers[name] : undefined
}

/**
 * The name under which a program stands in the tables: `python3.11` is python.
 *
 * @since 0.1.0
 */
export const nameOf = (program: string): string => {
  const name = program.slice(program.lastIndexOf("/") + 1)
  const [, base] = versioned.exec(name) ?? []
  return base === "nodejs" ? "node" : base === "pypy" ? "python" : (base ?? name)
}
