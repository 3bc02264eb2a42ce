/**
 * Finds secrets in places that the user's variables name, in place of the usual ones.
 */
import * as Path from "node:path"
import * as DefaultSecrets from "./DefaultSecrets.js"
import * as HostPath from "./HostPath.js"
import * as Redaction from "./Redaction.js"

/** The variables that name other places for what built-in rules hide: for one file or directory, or for all below one. */
const movedBy: ReadonlyArray<readonly [variable: string, usual: string, below?: string]> = [
  ["XDG_CONFIG_HOME", "~/.config/"],
  ["XDG_DATA_HOME", "~/.local/share/"],
  ["XDG_CACHE_HOME", "~/.cache/"],
  ["CARGO_HOME", "~/.cargo/"],
  ["GH_CONFIG_DIR", "~/.config/gh/"],
  ["DOCKER_CONFIG", "~/.docker/"],
  ["CLAUDE_CONFIG_DIR", "~/.claude/"],
  ["CLAUDE_CONFIG_DIR", "~/.claude.json", ".claude.json"],
  ["CODEX_HOME", "~/.codex/"],
  ["GRADLE_USER_HOME", "~/.gradle/"],
  ["KUBECONFIG", "~/.kube/config"],
  ["AWS_CONFIG_FILE", "~/.aws"],
  ["GNUPGHOME", "~/.gnupg"],
  ["CLOUDSDK_CONFIG", "~/.config/gcloud"],
  ["AZURE_CONFIG_DIR", "~/.azure"],
  ["PASSWORD_STORE_DIR", "~/.password-store"],
  ["NPM_CONFIG_USERCONFIG", "~/.npmrc"],
  ["npm_config_userconfig", "~/.npmrc"],
  ["PIP_CONFIG_FILE", "~/.pip/pip.conf"],
  ["GIT_CONFIG_GLOBAL", "~/.gitconfig"],
  ["HISTFILE", "~/.bash_history"],
  ["MYSQL_HISTFILE", "~/.mysql_history"],
  ["NETRC", "~/.netrc"],
  ["RCLONE_CONFIG", "~/.config/rclone/rclone.conf"],
  ["COMPOSER_HOME", "~/.config/composer/"],
  ["CONDARC", "~/.condarc"],
  ["TF_CLI_CONFIG_FILE", "~/.terraformrc"]
]

/** Returns the places of a variable, which name other places for what built-in rules hide. */
const movedTo = (name: string, value: string, cwd: string) => {
  const places = value.split(name === "KUBECONFIG" ? Path.delimiter : "\0").map((place) => Path.resolve(cwd, place))
  return movedBy.flatMap(([moving, usual, below = ""]) => {
    if (moving !== name) return []
    const entries = usual.endsWith("/") ? DefaultSecrets.entries.filter((entry) => entry.startsWith(usual)) : [usual]
    return places.flatMap((place) =>
      entries.map((pattern) => ({
        pattern,
        path: Path.join(place, pattern === usual ? below : pattern.slice(usual.length))
      }))
    )
  })
}

/**
 * Returns the paths that variables name for what built-in rules hide, with the patterns of these rules, and the existing
 * files whose variable sounds like a secret's.
 */
export const find = (
  variables: Readonly<Record<string, string | undefined>>,
  cwd: string
): ReadonlyArray<{ readonly pattern: string; readonly path: string }> =>
  Object.entries(variables).flatMap(([name, value = ""]) => {
    // Programs take `/dev/null` for no file.
    if (value === "" || HostPath.isWithin(value, "/dev")) return []
    const moved = movedTo(name, value, cwd)
    if (moved.length > 0 || !/[./]/.test(value) || !Redaction.secretName.test(name)) return moved
    const path = Path.resolve(cwd, value)
    // A project names its own files, such as `src/auth.js`.
    const isProjects = HostPath.isWithin(path, cwd) && !/credential/i.test(name)
    return isProjects || !HostPath.isFile(path) ? [] : [{ pattern: path, path }]
  })
