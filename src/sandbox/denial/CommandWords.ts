/**
 * Reads a command's words: the programs it runs, what they fetch, and the directories and git working trees that they
 * work in. git names files relative to the top of a working tree, wherever it runs.
 */
import * as Path from "node:path"
import * as CommandLine from "../../bash/CommandLine.js"
import * as CommandStatus from "../../bash/CommandStatus.js"
import * as CommandTree from "../../bash/CommandTree.js"
import * as GitDirectory from "../policy/GitDirectory.js"
import * as Message from "./internal/Message.js"

/** Programs whose purpose is to fetch. If one fails because of the network, the model must be told. */
const programs: ReadonlySet<string> = new Set(
  "apt apt-get bundle cargo composer conda gem git go gradle mvn npm npx pip pip3 pnpm poetry uv yarn".split(" ")
)

/** Programs that connect to the address they are given, possibly without printing an error. */
const reaching = new Set(["curl", "wget"])
/** Matches an address whose host the shell does not expand. */
const address = /^[a-z][a-z\d+.-]*:\/\/(?:[^\s/@]*@)?(\[[\da-f:.]+\]|[^\s/:?#$`{}*[]+)(?=[/:?#]|$)/i

/** Subcommands that fetch. */
const fetches = new Set(
  "add ci clone create download fetch get i info install pull push search show sync update upgrade view".split(" ")
)

/** Matches texts that may run a program that fetches. */
export const mayFetch = new RegExp(`(?:^|[^\\w.-])(?:${[...programs, ...reaching].join("|")})[ \\t]`)

/** The longest command that is read, in characters. */
const mostExamined = 10_000

const wordsOf = (command: CommandLine.CommandLine): ReadonlyArray<string> =>
  command.tokens.flatMap((token) => (token._tag === "Word" ? [token.value] : []))

/** Returns the words of a command, and then those of the commands within its words: `"$(curl …)"`, `sh -c '…'`. */
const allWordsOf = (command: CommandLine.CommandLine): ReadonlyArray<string> => {
  const words = command.tokens.filter((token) => token._tag === "Word")
  const inner = words.flatMap(({ expands, value }, at) => {
    const isRun = expands || /^(?:eval|-[a-z]*c)$/.test(words[at - 1]?.value ?? "")
    const text = value.replace(/\$\(|`/g, " ")
    return isRun && mayFetch.test(text) && text !== command.text ? allWordsOf(CommandLine.parse(text)) : []
  })
  return [...words.map(({ value }) => value), ...inner]
}

const nameOf = (word: string): string => word.slice(word.lastIndexOf("/") + 1)

/** Returns the words of a command that runs `curl` or `wget`; none of another. */
const reachingWords = (command: CommandLine.CommandLine): ReadonlyArray<string> => {
  if (command.text.length > mostExamined || !mayFetch.test(command.text)) return []
  const words = allWordsOf(command)
  return words.some((word) => reaching.has(nameOf(word))) ? words : []
}

/** Tests whether a command runs `curl` or `wget`. */
export const reaches = (command: CommandLine.CommandLine): boolean => reachingWords(command).length > 0

/** Returns the host that `curl` or `wget` should reach, if the command names it and it is not this machine. */
export const hostIn = (command: CommandLine.CommandLine): string | undefined =>
  reachingWords(command)
    .map((word) => address.exec(word)?.[1])
    .find((host) => host !== undefined && !Message.isLocal(host))

/** Returns the program that fetches something: `pip` in `pip install x | tail -n 3; echo done`. */
export const programIn = (command: CommandLine.CommandLine): string | undefined => {
  if (command.text.length > mostExamined || !mayFetch.test(command.text)) return undefined
  const words = allWordsOf(command)
  const at = words.findIndex((word, at) => programs.has(nameOf(word)) && fetches.has(words[at + 1] ?? ""))
  if (at >= 0) return nameOf(words[at] ?? "")
  return hostIn(command) === undefined ? undefined : words.map(nameOf).find((name) => reaching.has(name))
}

/** Commands of bash itself that write no file. No directory of `PATH` can have another program of their name. */
const builtins: ReadonlySet<string> = new Set(
  ": [ [[ cd echo exit export false local printf pwd read return set shift test true type ulimit umask unset wait".split(
    " "
  )
)
/** Programs, and subcommands of git, that use no network. */
const local: ReadonlySet<string> = new Set(
  [
    "TodoWrite awk basename cat chmod cmp comm cp cut date df diff dirname du edit egrep env fd fgrep file find grep head",
    "hostname id jq kill less ln ls mkdir mktemp mv nl od ps readlink realpath rg rm rmdir sed seq sha256sum sleep sort stat",
    "tac tail tar tee touch tr tree uname uniq unzip wc whereis which write xxd yes zip"
  ].flatMap((line) => line.split(" "))
)
const localGit = new Set(
  "add blame branch checkout cherry-pick clean commit config diff grep init log ls-files merge mv rebase reflog reset"
    .concat(" restore rev-parse rm show stash status switch tag worktree")
    .split(" ")
)

/** Matches what runs other programs or connects: substitutions, options of tar, find or rg, code of awk, bash's own files. */
const running =
  /\$\(|`|[<>]\(|exec|system|getline|\|\s*\\?"|-command|-compress|\s-ok|\s-x\s|\s--pre\b|\/dev\/(?:tcp|udp)\//i

const runsOnly = (command: CommandLine.CommandLine, isMeant: (name: string, sub: string) => boolean): boolean =>
  command.text.length <= mostExamined &&
  !running.test(command.text) &&
  invocations(command).every(([name = ":", sub = ""]) => isMeant(nameOf(name), sub))

/** Tests whether a command surely uses no network. */
export const isLocal = (command: CommandLine.CommandLine): boolean =>
  runsOnly(command, (name, sub) => builtins.has(name) || local.has(name) || (name === "git" && localGit.has(sub)))

/** Tests whether a command surely writes no file. */
export const isReading = (command: CommandLine.CommandLine): boolean =>
  !command.text.includes(">") && runsOnly(command, (name) => builtins.has(name))

/** The tools whose hosts `synapse sandbox allow --from` finds, by the programs that fetch as they do. */
const tools: Readonly<Record<string, string>> = {
  ...{ apt: "apt", "apt-get": "apt", cargo: "cargo", go: "go", uv: "uv", pip: "pip", pip3: "pip" },
  ...{ npm: "npm", npx: "npm", pnpm: "npm", yarn: "npm" }
}

/** Returns the tool whose configuration names the hosts of what the command fetches, if any. */
export const toolIn = (command: CommandLine.CommandLine): string | undefined => tools[programIn(command) ?? ""]

/** The most words that are looked up for a message without a name. */
const mostPaths = 300
const pathCharacters = /[\w.~/@%+,-]+/g

/** Returns the words of a text that look like paths: with a slash or a dot. */
const pathsIn = (text: string): ReadonlyArray<string> =>
  (text.match(pathCharacters) ?? []).filter((word) => /[/.]/.test(word))

/** Returns the words of a command, and the words that look like paths in quoted code and here-documents. */
export const all = (command: CommandLine.CommandLine): ReadonlyArray<string> => {
  const paths = new Set<string>()
  for (const token of command.tokens) {
    const text = token._tag === "Word" ? token.value : token._tag === "HereDocument" ? token.body : ""
    for (const path of [text, ...pathsIn(text)]) if (path !== "" && paths.size < mostPaths) paths.add(path)
  }
  return [...paths]
}

/** Returns the programs that a command runs with their arguments, including those in a `-c` text for a shell. */
export const invocations = (command: CommandLine.CommandLine): ReadonlyArray<ReadonlyArray<string>> =>
  [...CommandTree.commandsIn(command.tree.lists)].flatMap(({ words }) => {
    const found = (CommandStatus.unwrapped(words) ?? words).map(({ value }) => value)
    const at = /^(?:.*\/)?(?:ba|da|z)?sh$/.test(found[0] ?? "")
      ? found.findIndex((word) => /^-[a-z]*c$/.test(word))
      : -1
    return [found, ...(at > 0 ? invocations(CommandLine.parse(found[at + 1] ?? "")) : [])]
  })

/** Returns a directory, and the directories that a command changes to from there. */
export const entered = (all: ReadonlyArray<ReadonlyArray<string>>, cwd: string): ReadonlyArray<string> => [
  cwd,
  ...all.flatMap(([name, path]) =>
    (name === "cd" || name === "pushd") && path !== undefined ? [Path.resolve(cwd, path)] : []
  )
]

/** Match the options that name a program's working directory: as the next word, or within the option. */
const option = /^(?:-C|-d|--directory|--cd|--prefix)$/
const holding = /^(?:--directory|--cd|--prefix)=(.+)$|^-C(.+)$/

/** Returns the directories that options make a program work in: `tar -C DIR`, `unzip -d DIR`. */
export const workingDirectories = (command: CommandLine.CommandLine): ReadonlyArray<string> => {
  const words = wordsOf(command)
  return words.flatMap((word, at) => {
    const held = holding.exec(word)
    const found = held?.[1] ?? held?.[2] ?? (option.test(words[at - 1] ?? "") ? word : undefined)
    return found === undefined ? [] : [found]
  })
}

/** Matches the beginning of git's own messages, which name no program. The bound keeps a long line linear. */
const said = /^(?:error|fatal|warning): .{0,4096}$/

/** Matches git commands whose messages name files as they were given. */
const asGiven = /\bgit\b[^|;&\n]{0,200}?(?:\s(?:hash-object|apply|archive|bundle|config)\b|\s--no-index\b)/

/** Tests whether git may have printed a line. */
export const isSpokenOf = (line: string, command: string): boolean => said.test(line) && /\bgit\b/.test(command)

/** A command, and the directories that it may have worked in. */
export interface Place {
  readonly command: CommandLine.CommandLine
  readonly directories: ReadonlyArray<string>
}

/** Matches messages of programs that read whole directories, and of calls that watch or list them. */
const walking =
  /^(?:\S*\/)?(?:ack|ag|chmod|chown|cp|diff|du|[ef]?grep|fd|find|git|ls|rg|rsync|tar|tree|wc|zip): |, (?:lstat|scandir|stat|watch) '/
const starting = /(?:^|[\s;&|(])(?:fd|find|xargs)\s/

/** Tests whether a program met a file while walking directories: no word of the command names it. */
export const isMet = (line: string, path: string, place: Place): boolean => {
  const { command, directories } = place
  if (!walking.test(line) && !starting.test(command.text.slice(0, mostExamined)) && !isSpokenOf(line, command.text))
    return false
  const name = Path.posix.basename(path)
  return !all(command).some((word) => {
    const last = Path.posix.basename(word)
    const [begins = ""] = /^[^*?[]+(?=[*?[])/.exec(last) ?? []
    return (
      (last === name || (begins !== "" && name.startsWith(begins))) &&
      directories.some((directory) => path.startsWith(Path.posix.resolve(directory, Path.posix.dirname(word))))
    )
  })
}

/** Returns the directories that relative names in messages may start from, including those in the command's options. */
export const directoriesOf = (place: Place): ReadonlyArray<string> => [...place.directories, ...named(place)]

/** Returns the tops of the working trees that a command may have worked in. */
export const tops = (place: Place): ReadonlyArray<string> => [
  ...new Set([...named(place), ...place.directories].flatMap((directory) => GitDirectory.topOf(directory) ?? []))
]

const named = ({ command, directories }: Place): ReadonlyArray<string> =>
  workingDirectories(command).map((path) => Path.posix.resolve(directories[0] ?? "/", path))

/**
 * Returns the directories that relative names in git's messages may start from: the tops of working trees, or the
 * command's own directories if git names files as given.
 */
export const around = (place: Place): ReadonlyArray<string> => [
  ...new Set([...(asGiven.test(place.command.text) ? named(place) : tops(place)), ...place.directories])
]

/** Returns the object directories that git writes to, for a command that works in these directories. */
export const objectsOf = (place: Place): ReadonlyArray<string> =>
  tops(place).flatMap((top) => {
    const git = GitDirectory.ofTree(top)
    return git === undefined ? [] : [`${GitDirectory.commonOf(git)}/objects`]
  })
