/**
 * Names the files that a user's own tools run or load without being asked: what a command writes there would run
 * outside of the sandbox.
 *
 * Only existing files can be kept read-only. Files tracked by git stay writable, because git could not switch branches
 * otherwise.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Attempt from "../../domain/Attempt.js"
import * as BytePath from "../policy/BytePath.js"
import * as GitDirectory from "../policy/GitDirectory.js"
import * as HostPath from "../policy/HostPath.js"

const words = (...lines: ReadonlyArray<string>): ReadonlyArray<string> => lines.flatMap((line) => line.split(" "))

/**
 * Files of editors, agents and other tools that take effect in any opened directory. `.envrc` is absent because direnv
 * asks before it runs a changed one.
 */
const inProjects = words(
  ".Rprofile .agents .aider.conf.yml .amazonq .augment .claude .cline .codex .continue .crush .crush.json .cursor",
  ".devcontainer .dir-locals.el .exrc .factory .gemini .gitconfig .goose .hg/hgrc .hg/hgrc-not-shared .husky .idea .irbrc",
  ".jj/repo/config.toml .junie .kiro .lefthook.yml .mcp.json .nova .nvim.lua .nvimrc .opencode .pnpmfile.cjs",
  ".pnpmfile.mjs .pre-commit-config.yaml .pryrc .qwen .roo .theia .trae .vimrc .vscode .windsurf .yarnrc .yarnrc.yml .zed crush.json lefthook.yml opencode.json opencode.jsonc",
  // `npx synapse` starts it.
  "node_modules/.bin/synapse"
)

/**
 * Returns a directory's start-up files that have no fixed name: workspace files of editors, and in a home directory all
 * that begins with a dot, except histories, because some program reads it.
 */
export const entriesIn = (directory: string, userHome: string): ReadonlyArray<string> =>
  Attempt.orElse(() => BytePath.namesIn(directory), [])
    .filter((name) => /\.(?:code-workspace|sublime-project)$/i.test(name) || (directory === userHome && isHomes(name)))
    .map((name) => `${directory}/${name}`)
const isHomes = (name: string): boolean => /^\.(?!(?:synapse|git|gitignore|.*hi?st(?:ory|file)?)$)/.test(name)

/** Files in a home directory that shells read at login. */
export const ofShells = words(
  ".bash_aliases .bash_login .bash_logout .bash_profile .bashrc .config/environment.d .config/fish .config/zsh .cshrc",
  ".inputrc .kshrc .login .pam_environment .profile .tcshrc .zlogin .zlogout .zprofile .zshenv .zshrc"
)

/** Files in a home directory that run by themselves: at login, or when mail arrives. */
const unasked: ReadonlyArray<string> = [
  ...ofShells,
  ...words(".config/autostart .config/systemd .forward .local/share/systemd .procmailrc .xinitrc .xprofile .xsession"),
  ".xsessionrc"
]

/** Programs, and files of programs, in directories of a home. */
const inHome: ReadonlyArray<string> = [
  ...unasked,
  ...words(
    ".bun/bin .cargo/bin .config/Code .config/alacritty .config/direnv .config/ghostty .config/git .config/hypr .config/i3",
    ".config/kitty .config/mise .config/nvim .config/starship.toml .config/sway .config/tmux .config/wezterm .deno/bin",
    ".docker/cli-plugins .local/bin .local/lib .local/share/applications .nvm/nvm.sh .nvm/versions go/bin"
  )
]

const { isWithin } = HostPath

/** The places of a policy, as real paths. */
export interface Places {
  readonly cwd: string
  readonly userHome: string
  /** The directories and files that commands may write. */
  readonly writable: ReadonlyArray<string>
  /** The writable paths that the user has named. */
  readonly named: ReadonlyArray<string>
}

/** Tests whether the user has allowed by name a path, something in it, or the directory that stands for it. */
export const isNamed = ({ named }: Pick<Places, "named">, path: string, standsFor?: string): boolean =>
  named.some((one) => one === standsFor || isWithin(one, path))

/** Returns the paths that commands may write although the user has not allowed them by name. */
export const changeable = (places: Places, paths: ReadonlyArray<string>): ReadonlyArray<string> =>
  paths.filter(
    (path) =>
      places.writable.some((root) => root !== path && isWithin(path, root)) && !isNamed(places, path, places.userHome)
  )

/** Returns the paths that would be start-up files in writable places, whether or not they exist. */
export const candidates = (places: Places): ReadonlyArray<string> =>
  changeable(places, [
    ...places.writable.flatMap((root) => [
      ...inProjects.map((name) => `${root}/${name}`),
      ...entriesIn(root, places.userHome)
    ]),
    ...inHome.map((name) => `${places.userHome}/${name}`)
  ])

/** Returns the start-up files that run by themselves, so that commands may not even create them. */
export const unmade = (places: Places): ReadonlyArray<string> =>
  changeable(
    places,
    unasked.map((name) => `${places.userHome}/${name}`)
  ).filter(HostPath.isMissing)

/** The most bytes of an index that are read: a command can replace the index by a pipe, or let it grow without end. */
const largestIndex = 256 * 1024 ** 2

const readIndex = (path: string): Buffer => GitDirectory.readBytes(path, largestIndex) ?? Buffer.alloc(0)

/** Tests whether an index holds a path or something below it. It may miss one in version 4, which compresses paths. */
const isInIndex = (index: Buffer, path: string): boolean => {
  for (let at = index.indexOf(path); at > 0; at = index.indexOf(path, at + 1)) {
    const end = index.indexOf(0, at)
    const after = index[at + Buffer.byteLength(path)]
    // In an index, the lower bits of a path's length precede the path.
    if ((after === 0 || after === 0x2f) && index[at - 1] === (Math.min(end - at, 0xfff) & 0xff)) return true
  }
  return false
}

/** Makes a test for paths that git tracks, or that contain something tracked. */
const makeIsTracked = (cwd: string): ((path: string) => boolean) => {
  const top = GitDirectory.upwards(cwd).find((directory) => !HostPath.isMissing(`${directory}/.git`))
  let index: Buffer | undefined
  return (path) => {
    if (top === undefined || !isWithin(path, top)) return false
    const [git] = GitDirectory.at(top)
    index ??= readIndex(`${git}/index`)
    return isInIndex(index, Path.relative(top, path))
  }
}

/** Returns the hook directories of the repository that the working directory lies in. */
const hooks = (places: Places): ReadonlyArray<string> =>
  GitDirectory.upwards(places.cwd).flatMap((directory) =>
    [...GitDirectory.at(directory)].flatMap((git) => {
      const path = `${git}/hooks`
      const isWritable = places.writable.some((root) => isWithin(path, root))
      return isWritable && !isNamed(places, path, git) ? [path] : []
    })
  )

/** Returns the existing start-up files that must be read-only. */
export const find = (places: Places): ReadonlyArray<string> => {
  const isTracked = makeIsTracked(places.cwd)
  return [
    ...candidates(places).filter((path) => !HostPath.isMissing(path) && !isTracked(path)),
    ...hooks(places)
  ].filter((path) => !HostPath.isMissing(path) && !places.writable.some((root) => isWithin(root, path)))
}

/** The most entries of a directory that are searched for git directories. */
const mostEntries = 5000

/** Tests whether a directory may contain a git directory. True as well if it is too large or unreadable. */
const mayHoldGit = (root: string): boolean => {
  const directories = [root]
  let seen = 0
  for (let directory = directories.pop(); directory !== undefined; directory = directories.pop()) {
    const entries = Attempt.orUndefined(() => Fs.readdirSync(directory ?? "", { withFileTypes: true }))
    if (entries === undefined) return true
    for (const entry of entries) {
      if (++seen > mostEntries || entry.name === ".git" || entry.name === "HEAD") return true
      if (entry.isDirectory()) directories.push(`${directory}/${entry.name}`)
    }
  }
  return false
}

/** Tests whether only a new sandbox can allow a path, because files in it must be read-only or known from the start. */
export const takesNewSandbox = (path: string, userHome: string): boolean =>
  HostPath.isDirectory(path) &&
  (find({ cwd: path, userHome, writable: [path], named: [path] }).length > 0 || mayHoldGit(path))
