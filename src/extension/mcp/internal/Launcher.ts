/**
 * Decides what code a server's command line runs, from its words: existing files, directories, names of interpreters. A
 * program whose code can't be determined does not start in a place that sandboxed commands may write.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Attempt from "../../../domain/Attempt.js"
import * as NamedFiles from "../NamedFiles.js"

/**
 * A program that runs a file. `code` matches options that take code or a module instead, and `value` options with any
 * other value.
 */
interface Interpreter {
  readonly names: RegExp
  readonly code: RegExp
  readonly value: RegExp
}

const interpreters: ReadonlyArray<Interpreter> = [
  {
    names: /^(?:node(?:js)?|bun|deno|tsx|ts-node)$/,
    code: /^(?:-e|-p|-pe|--eval|--print|--run)(?:=|$)/,
    value:
      /^(?:-r|--require|--import|--loader|--experimental-loader|--preload|-C|--conditions|--env-file|-c|--config|--tsconfig|--project)$/
  },
  { names: /^py(?:thon|py)[\d.]*$/, code: /^-[A-Za-z]*[cm]/, value: /^-[A-Za-z]*[WX]$/ },
  { names: /^(?:ruby|perl)[\d.]*$/, code: /^-[A-Za-z]*[eE]/, value: /^-[rICMm]$/ },
  { names: /^php[\d.]*$/, code: /^-[rBRES]/, value: /^-[cdzt]$/ },
  { names: /^(?:ba|da|a|z|k)?sh$/, code: /^-[A-Za-z]*c/, value: /^[-+][A-Za-z]*[oO]$/ },
  { names: /^(?:java|lua(?:jit)?[\d.]*|pwsh)$/, code: /^-(?:e|c|Command)$/, value: /^-(?:cp|classpath|l)$/ }
]

/** Programs that start another program among their words and run no other code. */
const wrappers = /^(?:env|nice|ionice|nohup|time|timeout|stdbuf|setsid|taskset|chrt|sudo|doas|xvfb-run)$/

/** Programs that fetch a package and run it, and the subcommands of package managers that do so. */
const fetchers = /^(?:npx|bunx|pnpx|uvx|pipx)$/
const fetching: Readonly<Record<string, RegExp>> = {
  npm: /^(?:exec|x)$/,
  pnpm: /^(?:dlx|exec)$/,
  yarn: /^dlx$/,
  bun: /^x$/
}
const fetchersFlag =
  /^(?:-y|--yes|-q|--quiet|-s|--silent|-v|--verbose|--bun|--no-install|--prefer-offline|--offline|--isolated|--refresh|-n|--no-cache|--native-tls|--ignore-existing)$/

/**
 * Programs that run what a directory's files define. This list only improves messages, and finds directories in
 * arguments.
 */
const runners =
  /^(?:npm|pnpm|yarn|git|make|gmake|just|task|rake|gradlew?|mvnw?|mise|uv|poetry|pdm|hatch|pipenv|cargo|go|dotnet|composer)$/

/**
 * Matches variables that tell interpreters and tools where to find code. No fact tells them from variables that name
 * data, so they are known by the shape of their names, and by names that have no such shape.
 */
const codePlaces = new RegExp(
  `^(?:${[
    "\\w*(?:LIBS?|MODULES|(?:LIB|LOAD|CLASS|MODULE|PLUGIN)_?PATH|OPT(?:ION)?S?|FLAGS)|(?:ERL|GUILE|JULIA|R|TCL)_\\w+|PLT\\w+|OCAMLPATH",
    "(?:GCONV_)?PATH|HOME|ENV|BASH_ENV|ZDOTDIR|XDG_(?:CONFIG|DATA)_(?:HOME|DIRS)|LD_\\w+|OPENSSL_(?:CONF|MODULES|ENGINES)",
    "GIT_(?:DIR|WORK_TREE|COMMON_DIR|EXEC_PATH|TEMPLATE_DIR|CONFIG\\w*)",
    "NODE_(?:PATH|COMPILE_CACHE)|NPM_CONFIG_\\w+|YARN_\\w+|PNPM_HOME|COREPACK_HOME|DENO_DIR|BUN_INSTALL\\w*",
    "PYTHON[A-Z]+|VIRTUAL_ENV|CONDA_PREFIX|UV_\\w+|PERL5DB|GEM_(?:HOME|PATH)|BUNDLE_(?:PATH|GEMFILE)",
    "LUA_C?PATH\\w*|PHPRC|PHP_INI_SCAN_DIR|JAVA_HOME",
    "CARGO_HOME|RUSTUP_HOME|GO(?:PATH|ROOT|BIN|WORK)|DOTNET_(?:ROOT|STARTUP_HOOKS)"
  ].join("|")})$`,
  "i"
)

/** Matches options by which interpreters and tools are told where to find code, up to their value. */
const loads = /^(?:-[IL]|-p[az]|--?(?:cp|(?:class|load|module)-?path))/

const preloads = /^(?:-r|--(?:require|import|loader|experimental-loader|preload))(?:=|$)/

/** Matches what can't be the name of a package. */
const isPath = /^\.{0,2}\//

/** Matches code that an interpreter fetches, or reads from standard input. */
const address = /^(?:[a-z][\w+.-]+:|-$)/

const endings = ["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".py"].concat(
  ["index.js", "index.mjs", "index.cjs", "index.ts", "__main__.py"].map((name) => `/${name}`)
)

type IsWritable = (path: string) => boolean

const isPlain = (word: string): boolean => !word.startsWith("-")
const isOption = (word: string): boolean => !isPlain(word) || /^\+[A-Za-z]+$/.test(word)
const valueOf = (word: string): string => (isPlain(word) ? word : word.slice(word.indexOf("=") + 1))
const interpreterOf = (name: string): Interpreter | undefined => interpreters.find(({ names }) => names.test(name))

const statsOf = (path: string): Fs.Stats | undefined =>
  Attempt.orUndefined(() => Fs.statSync(path, { throwIfNoEntry: false }))

const isFile = (path: string): boolean => statsOf(path)?.isFile() === true

/** What a program does with its words. `script` is the file that it runs. `own` are the words of a fetcher itself. */
type Launch =
  | {
      readonly kind: "script"
      readonly script: string
      readonly preloaded: ReadonlyArray<string>
      /** The words before the script. */
      readonly own: ReadonlyArray<string>
    }
  | { readonly kind: "module"; readonly isIsolated: boolean }
  | { readonly kind: "fetcher"; readonly own: ReadonlyArray<string>; readonly inner: NamedFiles.Program | undefined }
  | { readonly kind: "code" | "runner" | "unknown" | "own" }

const interpreted = ({ args, command, cwd }: NamedFiles.Program, { code, value }: Interpreter): Launch => {
  const isPython = /^py/.test(Path.basename(command))
  const preloaded: Array<string> = []
  let mayBeValue = false
  let isIsolated = false
  for (let at = 0; at < args.length; at++) {
    const word = args[at] ?? ""
    const script = { kind: "script", preloaded, own: args.slice(0, at) } as const
    if (word === "--")
      return args[at + 1] === undefined ? { kind: "unknown" } : { ...script, script: args[at + 1] ?? "" }
    if (isOption(word)) {
      isIsolated ||= /^-[A-Za-z]*[IP]/.test(word)
      if (isPython && /^-[A-Za-bd-z]*m/.test(word)) return { kind: "module", isIsolated }
      if (code.test(word)) return { kind: "code" }
      const takesNext = value.test(word)
      if (preloads.test(word)) preloaded.push(takesNext ? (args[at + 1] ?? "") : valueOf(word))
      if (takesNext) at++
      mayBeValue = !takesNext && !word.includes("=")
    } else if (
      mayBeValue &&
      !address.test(word) &&
      !endings.some((ending) => statsOf(NamedFiles.within(cwd, word + ending)) !== undefined)
    ) {
      mayBeValue = false
    } else return { ...script, script: word }
  }
  return { kind: "unknown" }
}

/** Splits the words after `npx` into its own, of which the last names the package, and those of the program. */
const fetched = (program: NamedFiles.Program, words: ReadonlyArray<string>): Launch => {
  const at = words.findIndex((word, at) => {
    const before = words[at - 1] ?? ""
    const isValue = !isPlain(before) && before !== "--" && !fetchersFlag.test(before) && !before.includes("=")
    return isPlain(word) && !isValue
  })
  const command = words[at]
  const own = at < 0 ? words : words.slice(0, at + 1)
  const isTool = command !== undefined && interpreterOf(command) !== undefined
  return { kind: "fetcher", own, inner: isTool ? { ...program, command, args: words.slice(at + 1) } : undefined }
}

const launch = (program: NamedFiles.Program, isWritable: IsWritable): Launch => {
  const { args, command, cwd } = program
  const name = Path.basename(command)
  const at = args.findIndex(isPlain)
  const first = args[at] ?? ""
  if (fetchers.test(name)) return fetched(program, name === "pipx" ? args.slice(at + 1) : args)
  if (fetching[name]?.test(first) === true) return fetched(program, args.slice(at + 1))
  if ((name === "bun" && first === "run") || (name === "deno" && first === "task")) return { kind: "runner" }
  const interpreter = interpreterOf(name)
  if (interpreter !== undefined) {
    const isSubcommand = (name === "deno" && first === "run") || (name === "tsx" && first === "watch")
    return interpreted(isSubcommand ? { ...program, args: args.slice(at + 1) } : program, interpreter)
  }
  if (runners.test(name)) return { kind: "runner" }
  if (wrappers.test(name)) {
    const isKnown = (word: string) =>
      isPlain(word) &&
      (interpreterOf(Path.basename(word)) !== undefined ||
        [wrappers, fetchers, runners].some((names) => names.test(Path.basename(word))) ||
        (word.includes("/") && !word.includes("=") && isFile(NamedFiles.within(cwd, word))))
    const inner = args.findIndex(isKnown)
    const isAltered = args.slice(0, inner).some((word) => /^-[A-Za-z]*[SCD]|^--(?:split|chdir)/.test(word))
    if (isAltered) return { kind: "code" }
    return inner < 0
      ? { kind: "unknown" }
      : launch({ ...program, command: args[inner] ?? "", args: args.slice(inner + 1) }, isWritable)
  }
  const file = NamedFiles.within(cwd, command)
  return { kind: command.includes("/") && isFile(file) && isWritable(file) ? "own" : "unknown" }
}

/** Returns the directory and its parents up to the nearest package.json. Tools look there for what they run. */
const upwards = (directory: string): ReadonlyArray<string> => {
  const up = Path.dirname(directory)
  const isEnd = up === directory || isFile(`${directory}/package.json`)
  return isEnd ? [directory] : [directory, ...upwards(up)]
}

/** Returns the first text that names an existing directory or package which commands may write. */
const openIn = (texts: ReadonlyArray<string>, cwd: string, isWritable: IsWritable): string | undefined =>
  texts
    .map((text) => Path.resolve(cwd, text))
    .find((path) => statsOf(path) !== undefined && upwards(path).some(isWritable))

/** Returns the first path that code names and that does not exist yet, so that a command could make it. */
const unmadeIn = (texts: ReadonlyArray<string>, cwd: string, isWritable: IsWritable): string | undefined =>
  texts
    .filter((text) => isPath.test(text))
    .map((text) => NamedFiles.within(cwd, text))
    .find((path) => statsOf(path) === undefined && isWritable(path))

const noFile = (word: string, { command, cwd }: NamedFiles.Program, isWritable: IsWritable): string | undefined => {
  if (address.test(word)) return undefined
  const path = NamedFiles.within(cwd, word)
  if (!isWritable(path)) return undefined
  if (isFile(path)) return NamedFiles.isDatabase(path) ? `${word} is a database, and no program` : undefined
  const ending = endings.find((one) => isFile(path + one))
  const example = ending === undefined ? "" : `, as ${Path.basename(command)} ${Path.posix.normalize(word + ending)}`
  return `there is no file ${word}, and commands could write the one that ${Path.basename(command)} runs instead: name a file that exists${example}`
}

/**
 * Returns why a program can't start: sandboxed commands may decide what it runs. Undefined if its code is in files that
 * its words name, or that commands can't write.
 */
export const refusal = (program: NamedFiles.Program, isWritable: IsWritable): string | undefined => {
  const { args, command, cwd } = program
  const what = [Path.basename(command), ...args.filter(isPlain).slice(0, 1)].join(" ")
  const undecided = (place: string | undefined, remedy = "") =>
    place === undefined
      ? undefined
      : `commands decide what ${what} runs, for they may write to ${place}: name the program's own file, or leave "cwd" out and name files and directories by their full paths${remedy}`
  const here = isWritable(cwd) ? cwd : undefined
  const launched = launch(program, isWritable)
  const open = codeTexts(program, launched).filter(isDirectoryIn(cwd))
  const source =
    open.map((text) => NamedFiles.within(cwd, text)).find(isWritable) ?? unmadeIn(preloadedBy(program), cwd, isWritable)
  if (source !== undefined) return `${what} takes code from ${source}, which commands may write: name another directory`
  switch (launched.kind) {
    case "own":
      return undefined
    case "script": {
      const files = [launched.script, ...launched.preloaded.filter((word) => isPath.test(word))]
      return files.map((word) => noFile(word, program, isWritable)).find((reason) => reason !== undefined)
    }
    case "module":
      return undecided(launched.isIsolated ? undefined : here, `, or add -I, which leaves ${cwd} out`)
    case "code": {
      // What a shell writes to is no code.
      const texts = wordTexts(args.map((word) => word.replace(/\d*>+\s*[^\s;|&]+/g, " ")))
      const place = openIn(texts.filter(isDirectoryIn(cwd)), cwd, isWritable) ?? unmadeIn(texts, cwd, isWritable)
      return undecided(here ?? place)
    }
    case "fetcher": {
      const own = launched.own.filter((word) => /^(?:[./~]|-.*[=./~]|file:)/.test(word))
      const place = upwards(cwd).find(isWritable) ?? openIn(wordTexts(own), cwd, isWritable)
      return place === undefined && launched.inner !== undefined
        ? refusal(launched.inner, isWritable)
        : undecided(place)
    }
    case "runner":
      return undecided(upwards(cwd).find(isWritable) ?? openIn(wordTexts(args), cwd, isWritable))
    case "unknown": {
      const texts = wordTexts(args)
      const isRunner = texts.some((text) => runners.test(text.startsWith("/") ? Path.basename(text) : text))
      const named = isRunner ? texts : args.flatMap(piecesOf)
      return undecided(here ?? openIn(named.filter(isDirectoryIn(cwd)), cwd, isWritable))
    }
  }
}

/** Splits a word that holds code of some language into words. */
const piecesOf = (word: string): ReadonlyArray<string> => {
  const pieces = /^[{[]/.test(word) ? [] : word.split(/[\s;|&<>()'"`]+/)
  return pieces.length > 1 ? pieces : []
}

const wordTexts = (words: ReadonlyArray<string>): ReadonlyArray<string> =>
  words.flatMap((word) => NamedFiles.textsIn(word))

/** Returns texts that may name directories where a program looks for code, besides the file that it runs. */
const codeTexts = ({ args, env }: NamedFiles.Program, launched: Launch): ReadonlyArray<string> => {
  const assigned = args.flatMap((word) => {
    const [, name, value = ""] = /^([A-Za-z_]\w*)=(.*)/s.exec(word) ?? []
    return name === undefined ? [] : [[name, value] as const]
  })
  const values = [...Object.entries(env), ...assigned].filter(([name, value]) => codePlaces.test(name) && value !== "")
  const options = args.flatMap((word, at) => {
    const [option] = loads.exec(word) ?? []
    return option === undefined ? [] : [option === word ? (args[at + 1] ?? "") : word]
  })
  const lists = [
    ...values.map(([, value]) => value),
    ...(launched.kind === "unknown" || launched.kind === "code" ? options : [])
  ]
  // An empty part of a list means the working directory. Lua has patterns: /lib/?.lua.
  const parts = lists.flatMap((list) => list.split(/[:;]/).map((part) => part.replace(/[^/]*\?.*/s, "") || "."))
  const own = launched.kind === "script" ? launched.own.filter((word) => !/^(?:-D|--allow)/.test(word)) : []
  return wordTexts([...parts, ...own])
}

const isDirectoryIn = (cwd: string) => (text: string) => statsOf(NamedFiles.within(cwd, text))?.isDirectory() === true

/** Returns the files that options in variables make an interpreter load first. */
const preloadedBy = ({ env }: NamedFiles.Program): ReadonlyArray<string> =>
  Object.values(env).flatMap((value) => {
    const words = value.split(/[\s=]+/)
    return words.filter((_, at) => preloads.test(words[at - 1] ?? ""))
  })

/**
 * Moves a program out of the project if no word of it names something that exists there. Otherwise a command could
 * place files there that the program would take for its own.
 */
export const locate = (program: NamedFiles.Program, elsewhere: string, isWritable: IsWritable): NamedFiles.Program => {
  const { args, command, cwd, env } = program
  const launched = launch(program, isWritable)
  if (launched.kind === "script" || launched.kind === "runner" || launched.kind === "own") return program
  // A package's name is not a path, even if the directory has such a file.
  const name = launched.kind === "fetcher" && !/^[./]/.test(launched.own.at(-1) ?? "") ? launched.own.at(-1) : undefined
  const texts = [command, ...args.filter((word) => word !== name), ...Object.values(env)].flatMap((word) =>
    NamedFiles.textsIn(word)
  )
  const isNamed = texts.some((text) => !text.startsWith("/") && statsOf(NamedFiles.within(cwd, text)) !== undefined)
  return isNamed ? program : { ...program, cwd: elsewhere }
}
