/**
 * Recognises programs that need the whole terminal, by how they are called.
 *
 * @since 0.1.0
 */
import * as CommandLine from "../../bash/CommandLine.js"

const set = (names: string) => new Set(names.split(" "))

/** Programs that use the terminal whatever their words are. */
const always = set(
  "vim vi nvim view vimdiff nano pico micro joe mcedit less more most man htop btop atop mc ranger nnn tig lazygit tmux screen " +
    "ssh telnet ftp sftp mosh fzf dialog whiptail watch gdb lldb ncdu vifm links lynx w3m clear reset"
)

/** Programs that read commands from the terminal where they are given no script. */
const repls = set(
  "python python2 python3 ipython node deno bun irb pry ghci lua ocaml utop scala kotlin jshell erl iex julia R bc dc php psysh " +
    "bash sh zsh fish dash ksh"
)

/** Programs that do so whatever operands they have, unless an option says what to run. */
const databases = new Map([
  ["psql", /^(?:-\w*[clf]|--(?:command|file|list)\b)/],
  ["mysql", /^(?:-e|--execute\b)/],
  ["mariadb", /^(?:-e|--execute\b)/],
  ["mongosh", /^--(?:eval|file)\b/],
  ["emacs", /^--(?:batch|script)\b/],
  ["top", /^-\w*b/]
])

const asking = /^(?:-\w*[ip]|--interactive|--patch)$/
const answering =
  /^(?:-\w*[mFCc]|-h|--(?:message|file|reuse-message|no-edit|fixup|dry-run|help|abort|continue|quit|skip)\b)/

/** Tests whether a call of git opens an editor, or asks. */
const isGit = (words: ReadonlyArray<string>): boolean => {
  const [subcommand = "", ...rest] = words
  const has = (pattern: RegExp) => rest.some((word) => pattern.test(word))
  switch (subcommand) {
    case "commit":
      return has(/^--(?:interactive|patch)$|^-p$/) || !has(answering)
    case "rebase":
      return has(/^(?:-i|--interactive|--continue)$/)
    case "add":
    case "checkout":
    case "restore":
    case "reset":
    case "stash":
    case "clean":
      return has(asking)
    default:
      return false
  }
}

const isAttached = /^-(?:\w*t\w*i|\w*i\w*t)\w*$/

/**
 * Tests whether a text is one call of such a program, with nothing redirected or piped.
 *
 * @since 0.1.0
 */
export const test = (text: string): boolean => {
  const words: Array<string> = []
  for (const token of CommandLine.parse(text.trim()).tokens) {
    if (token._tag === "Word") words.push(token.value)
    else if (token._tag !== "Blank" && token._tag !== "Comment") return false
  }
  while (/^[A-Za-z_]\w*=/.test(words[0] ?? "")) words.shift()
  const [program = "", ...rest] = words
  const name = program.slice(program.lastIndexOf("/") + 1)
  if (rest.some((word) => word === "--help" || word === "--version")) return false
  if (always.has(name)) return true
  if (repls.has(name)) return rest.every((word) => /^-[iqlBu]$|^--login$/.test(word))
  const scripted = databases.get(name)
  if (scripted !== undefined) return !rest.some((word) => scripted.test(word))
  if (name === "redis-cli" || name === "sqlite3") return rest.filter((word) => !word.startsWith("-")).length <= 1
  if (name === "docker" || name === "podman" || name === "kubectl") return rest.some((word) => isAttached.test(word))
  return name === "git" && isGit(rest)
}
