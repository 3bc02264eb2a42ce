/**
 * Finds the hosts that a package manager or git fetches from, in the user's own configuration. No program is run. In a
 * project, only the remotes of its repository are read, because commands can write the other files.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Either from "effect/Either"
import * as Attempt from "../../domain/Attempt.js"
import * as RegularFile from "../../files/RegularFile.js"
import * as GitConfig from "../policy/GitConfig.js"
import * as GitDirectory from "../policy/GitDirectory.js"
import * as Name from "../policy/Name.js"

/** A host, as an entry of `allowedHosts`, and where its address is written. */
interface Found {
  readonly entry: string
  readonly origin: string
}

/** Where a user's configuration lies. */
interface Place {
  readonly cwd: string
  readonly userHome: string
  readonly variables: Readonly<Record<string, string | undefined>>
  /** The directory of the machine's own settings; `/etc` by default. */
  readonly etc?: string
}

/** A setting. Its name includes its section, in lower case and with `-` for `_`. */
interface Line {
  readonly name: string
  readonly value: string
}

/** Tests whether a setting holds addresses, by its name and the other settings of its section. */
type Test = (name: string, block: ReadonlyArray<Line>) => boolean

interface Manager {
  /** Matches the prefix of environment variables that are settings. */
  readonly prefix: RegExp
  readonly files: (place: Place, configHome: string, etc: string) => ReadonlyArray<string | undefined>
  /** Settings for which only the nearest file that sets one counts. */
  readonly nearest: ReadonlyArray<Test>
  readonly others: Test
}

const isIndex: Test = (name, block) =>
  name === "index.url" && block.some((line) => line.name === "index.default" && line.value === "true")

const managers: Readonly<Record<"npm" | "pip" | "uv" | "cargo" | "go" | "apt", Manager>> = {
  npm: {
    prefix: /^npm_config_/i,
    files: ({ userHome, variables }) => [
      variables["npm_config_userconfig"] ?? variables["NPM_CONFIG_USERCONFIG"] ?? `${userHome}/.npmrc`,
      `${variables["npm_config_prefix"] ?? Path.resolve(process.execPath, "../..")}/etc/npmrc`
    ],
    nearest: [(name) => name === "registry"],
    others: (name) => /^@.+:registry$/.test(name)
  },
  pip: {
    prefix: /^PIP_/,
    files: ({ userHome, variables }, configHome, etc) => [
      variables["PIP_CONFIG_FILE"],
      `${configHome}/pip/pip.conf`,
      `${userHome}/.pip/pip.conf`,
      `${etc}/xdg/pip/pip.conf`,
      `${etc}/pip.conf`
    ],
    nearest: [(name) => /^(?:[\w-]+\.)?index-url$/.test(name)],
    others: (name) => /^(?:[\w-]+\.)?(?:extra-index-url|find-links)$/.test(name)
  },
  uv: {
    prefix: /^UV_/,
    files: ({ variables }, configHome, etc) => [
      variables["UV_CONFIG_FILE"],
      `${configHome}/uv/uv.toml`,
      `${etc}/xdg/uv/uv.toml`,
      `${etc}/uv/uv.toml`
    ],
    nearest: [(name, block) => /^(?:pip\.)?index-url$|^default-index$/.test(name) || isIndex(name, block)],
    others: (name) => /^(?:pip\.)?(?:index|extra-index-url|find-links|index\.url)$/.test(name)
  },
  cargo: {
    prefix: /^CARGO_/,
    files: ({ userHome, variables }) =>
      ["config.toml", "config"].map((name) => `${variables["CARGO_HOME"] || `${userHome}/.cargo`}/${name}`),
    nearest: [(name) => /^source[.-]crates-io[.-](?:replace-with|registry)$/.test(name)],
    others: (name) => /^source\..+\.registry$|^registries[.-].+[.-]index$/.test(name)
  },
  go: {
    prefix: /^(?=GO)/,
    files: ({ variables }, configHome) => [variables["GOENV"] ?? `${configHome}/go/env`],
    nearest: [(name) => name === "goproxy", (name) => name === "gosumdb"],
    others: () => false
  },
  apt: {
    prefix: /(?!)/,
    files: (_, __, etc) => [
      `${etc}/apt/sources.list`,
      ...Attempt.orElse(() => Fs.readdirSync(`${etc}/apt/sources.list.d`), [])
        .filter((name) => /\.(?:list|sources)$/.test(name))
        .map((name) => `${etc}/apt/sources.list.d/${name}`)
    ],
    nearest: [],
    others: (name, block) =>
      /^deb(?:-src)?$/.test(name) ||
      (name === "uris" && !block.some((line) => line.name === "enabled" && line.value.toLowerCase() === "no"))
  }
}

const largest = 1024 ** 2

/** Reads a file, if it exists. A command may have replaced it by a pipe, which must not block. */
const read = (path: string): string | undefined =>
  Attempt.orUndefined(() =>
    RegularFile.read(path, { mayBeLink: true, most: largest }, (stats) => !stats.isFile() || undefined)
      .pipe(Either.getOrUndefined)
      ?.bytes.toString("latin1")
  )

const nameOf = (text: string): string => text.replace(/["']/g, "").replaceAll("_", "-").toLowerCase()

/** Reads the settings of a file by sections and paragraphs. Accepts `key = value`, `key: value` and apt's lines. */
const blocksIn = (text: string): ReadonlyArray<ReadonlyArray<Line>> => {
  const blocks: Array<Array<{ name: string; value: string }>> = [[]]
  let section = ""
  for (const line of text.split(/\r?\n/)) {
    const [, header] = /^\s*\[+([^[\]]+)\]+\s*(?:#.*)?$/.exec(line) ?? []
    if (header !== undefined) section = `${header.trim()}.`
    if (header !== undefined || line.trim() === "") blocks.push([])
    if (header !== undefined || /^\s*(?:[#;]|$)/.test(line)) continue
    const [, key, value = ""] = /^\s*([\w.@"'-]+(?::[\w-]+)?)\s*(?:=|:\s|(?<=^deb(?:-src)?)\s)\s*(.*)$/.exec(line) ?? []
    const block = blocks.at(-1)
    if (key !== undefined) block?.push({ name: nameOf(`${section}${key}`), value })
    else if (/^\s/.test(line)) {
      // The value continues on this line.
      const last = block?.at(-1)
      if (last !== undefined) last.value += `\n${line}`
    }
  }
  return blocks
}

/** Returns the entry for an address; undefined if it names no host, such as a path. */
const entryOf = (address: string): string | undefined => {
  const url = Attempt.orUndefined(() => new URL(address))
  if (url === undefined || url.hostname === "") return undefined
  const { hostname, protocol } = url
  const port = url.port || { "http:": "80", "https:": "443", "ssh:": "22", "git:": "9418" }[protocol]
  if (/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname)) return `localhost:${port}`
  return url.port === "" && /^https?:$/.test(protocol) ? hostname : `${hostname}:${port}`
}

const addressesIn = (text: string, { variables }: Place): ReadonlyArray<string> =>
  text
    .replace(/\$\{?(\w+)\}?/g, (written, name: string) => variables[name] ?? written)
    .match(/(?:https?|ssh|git):\/\/[^\s"',|]+/g) ?? []

/** A tool whose configuration can be read. */
export type Tool = keyof typeof managers | "git"

const ofManager = (tool: keyof typeof managers, place: Place): ReadonlyArray<Found> => {
  const { files, nearest, others, prefix } = managers[tool]
  const { etc = "/etc", userHome, variables } = place
  const configHome = variables["XDG_CONFIG_HOME"] || `${userHome}/.config`
  const set = Object.entries(variables).filter(([name, value]) => prefix.test(name) && value !== undefined)
  const sources = [
    {
      origin: "the environment",
      blocks: set.map(([name, value = ""]) => [{ name: nameOf(name.replace(prefix, "")), value }])
    },
    ...files(place, configHome, etc).flatMap((path) => {
      const text = path === undefined ? undefined : read(path)
      return path === undefined || text === undefined ? [] : [{ origin: Name.of(path), blocks: blocksIn(text) }]
    })
  ]
  const found = (test: Test) =>
    sources.flatMap(({ blocks, origin }) => {
      const values = blocks.flatMap((block) => block.flatMap(({ name, value }) => (test(name, block) ? [value] : [])))
      return values.length === 0 ? [] : [{ origin, values }]
    })
  const toFound = ({ origin, values }: { readonly origin: string; readonly values: ReadonlyArray<string> }) =>
    values.flatMap((value) => addressesIn(value, place).map((address) => ({ entry: entryOf(address), origin })))
  return [
    ...nearest.flatMap((test) => found(test).slice(0, 1).flatMap(toFound)),
    ...found(others).flatMap(toFound)
  ].flatMap(({ entry, origin }) => (entry === undefined ? [] : [{ entry, origin }]))
}

const configIn = (path: string): ReadonlyArray<GitConfig.Entry> => GitConfig.parse(read(path) ?? "") ?? []

/** Reads the remotes of the repository around a directory, and of its submodules. */
const ofGit = ({ cwd, userHome, variables }: Place): ReadonlyArray<Found> => {
  const configHome = variables["XDG_CONFIG_HOME"] || `${userHome}/.config`
  const replaced = [`${userHome}/.gitconfig`, `${configHome}/git/config`]
    .flatMap(configIn)
    .filter(({ key, section }) => section === "url" && /^(?:push)?insteadof$/.test(key))
  const directories = [...GitDirectory.at(GitDirectory.topOf(cwd) ?? cwd)]
  return directories.flatMap((directory) =>
    configIn(`${directory}/config`).flatMap(({ key, section, value = "" }) => {
      if (!/^(?:remote|submodule)$/.test(section) || !/^(?:push)?url$/.test(key)) return []
      const rule = replaced.find((each) => each.value !== undefined && value.startsWith(each.value))
      const address = rule === undefined ? value : `${rule.subsection}${value.slice(rule.value?.length)}`
      const [, host] = /^(?:[^@/:\s]+@)?([^@/:\s]+):(?!\/\/|:)/.exec(address) ?? []
      const entry = host === undefined ? entryOf(address) : `${host}:22`
      return entry === undefined ? [] : [{ entry, origin: Name.of(`${directory}/config`) }]
    })
  )
}

/** Returns the hosts that a tool fetches from, each once. */
export const find = (tool: Tool, place: Place): ReadonlyArray<Found> => {
  const all = tool === "git" ? ofGit(place) : ofManager(tool, place)
  return all.filter(({ entry }, at) => all.findIndex((other) => other.entry === entry) === at)
}
