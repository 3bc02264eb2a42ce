/** The built-in blacklist: where secrets usually lie, and which files of those names hold none. */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as GlobalValue from "effect/GlobalValue"
import * as GitDirectory from "./GitDirectory.js"
import * as Redaction from "./Redaction.js"
import type { Rule } from "./SandboxPolicy.js"
import * as SecretText from "./SecretText.js"

/** The entries, as people write them. */
export const entries: ReadonlyArray<string> = [
  "~/.ssh ~/.aws ~/.gnupg ~/.config/gcloud ~/.azure",
  // Keys and passwords of services.
  "~/.oci ~/.netrc ~/.authinfo ~/.git-credentials ~/.config/git/credentials ~/.pgpass ~/.my.cnf ~/.mylogin.cnf ~/.vault-token",
  "~/.kube/config ~/.config/gh/hosts.yml ~/.config/hub ~/.config/glab-cli/config.yml ~/.config/github-copilot ~/.pypirc",
  "~/.gem/credentials ~/.local/share/gem/credentials ~/.cargo/credentials ~/.cargo/credentials.toml ~/.composer/auth.json",
  "~/.config/composer/auth.json ~/.config/pypoetry/auth.toml ~/.terraform.d/credentials.tfrc.json ~/.config/doctl/config.yaml",
  "~/.config/containers/auth.json ~/.config/rclone/rclone.conf ~/.s3cfg ~/.boto ~/.fly/config.yml ~/.config/sops",
  "~/.huggingface/token ~/.cache/huggingface/token ~/.claude/.credentials.json ~/.codex/auth.json ~/.gemini/oauth_creds.json",
  "~/.local/share/opencode/auth.json",
  // Settings that may hold a token.
  "~/.npmrc ~/.yarnrc ~/.yarnrc.yml ~/.docker/config.json ~/.cargo/config.toml ~/.config/pip/pip.conf ~/.pip/pip.conf ~/.condarc",
  "~/.bundle/config ~/.gradle/gradle.properties ~/.m2/settings.xml ~/.m2/settings-security.xml ~/.nuget/NuGet/NuGet.Config",
  "~/.terraformrc",
  // What was typed, and the stores of passwords and cookies.
  "~/.bash_history ~/.zsh_history ~/.ash_history ~/.sh_history ~/.local/share/fish/fish_history ~/.python_history",
  "~/.node_repl_history ~/.irb_history ~/.psql_history ~/.mysql_history ~/.mariadb_history ~/.sqlite_history ~/.rediscli_history",
  "~/.config/op ~/.password-store ~/.local/share/keyrings ~/.mozilla ~/.thunderbird ~/.config/google-chrome ~/.config/chromium",
  "~/.config/BraveSoftware ~/.config/microsoft-edge ~/.config/vivaldi ~/Library/Keychains ~/Library/Cookies",
  // The system's, which root can read.
  "/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/security/opasswd /etc/krb5.keytab /etc/ssl/private",
  // Of projects.
  "**/.env **/.envrc **/.env.* **/credentials.json **/secrets.json **/.netrc **/.git-credentials **/.pgpass **/.pypirc",
  "**/.npmrc **/.yarnrc.yml **/?*.key **/?*.pem **/?*.p12 **/?*.pfx **/id_rsa **/id_dsa **/id_ecdsa **/id_ed25519"
].flatMap((line) => line.split(" "))

const endings = "example sample template tmpl dist defaults schema".split(" ")

/** Matches examples of files whose real ones hold secrets. */
const example = new RegExp(`\\.(?:${endings.join("|")})$`, "i")
const environment = "**/.env.*"

/** Returns the patterns of files that a rule does not cover, though its own pattern does. */
export const exemptOf = ({ pattern, source }: Rule): ReadonlyArray<string> =>
  source === "default" && pattern === environment
    ? endings.flatMap((ending) => [`/**/.env.${ending}`, `/**/.env.*.${ending}`])
    : []

/** Matches what was installed: its files are published, keys for tests among them. */
const installed = /\/(?:node_modules|site-packages|dist-packages)\//

/** Matches a setting with a secret for its name and a value of its own: neither a variable, nor a switch. */
const secretSetting =
  /(?:\b_?auth|_auth|tokens?|passw(?:or)?d|passphrase|secret|api[-_]?key|access[-_]?key|credentials?)["']?\s*(?:[:=>]|\bvalue=|"\s+value=)\s*["']?(?!["']?\s*$|\$|%[A-Z]|\{|\[|<|(?:true|false|null|none)\b)\S/im

/** Matches a line that has the form of a setting. */
const setting = /^\s*(?:$|[#;[\]{}"'<,!-]|[\w@./:$ {}-]+\s*[=:]|[a-z][a-z-]*\s*$)/

const holdsSetting = (text: string): boolean =>
  secretSetting.test(text) ||
  text.split("\n").some((line) => !setting.test(line) || SecretText.isSecretValue(line.replace(/^[^=]*=\s*/, "")))

/** Matches the certificates and public keys that files for keys may hold alone. */
const holdsKey = (text: string): boolean => /PRIVATE KEY/.test(text) || !/-----BEGIN |^PK\x03\x04/.test(text)

/** What tells by the text of a file, for the names whose files may hold a secret or none. */
const judges: Readonly<Record<string, (text: string) => boolean>> = {
  ...Object.fromEntries(["?*.key", "?*.pem"].map((name) => [name, holdsKey])),
  ...Object.fromEntries(
    [".npmrc", ".yarnrc", ".yarnrc.yml", "config.json", "config.toml", "pip.conf", ".condarc", "config"]
      .concat(["gradle.properties", "settings.xml", "NuGet.Config", ".terraformrc", ".my.cnf"])
      .map((name) => [name, holdsSetting])
  )
}

/** Returns what judges the files of a rule by their text; undefined where their names are enough. */
export const judgeOf = ({ pattern, source }: Rule): ((text: string) => boolean) | undefined =>
  source !== "default" || pattern.endsWith("/.kube/config") ? undefined : judges[Path.posix.basename(pattern)]

/** The settings that are shown without their secrets, by the ends of their entries. */
const redactions = Object.entries({
  ...Object.fromEntries(
    ["/.npmrc", "/.yarnrc", "/.yarnrc.yml", "/pip/pip.conf", "/.pip/pip.conf", "/.condarc", "/.cargo/config.toml"]
      .concat(["/.cargo/credentials", "/.cargo/credentials.toml", "/.gradle/gradle.properties"])
      .map((end) => [end, Redaction.lines])
  ),
  "/.docker/config.json": Redaction.json
})

/**
 * Returns the text of a file of settings that a built-in rule names, without its secrets; undefined for other files, and
 * for settings that can't be told from secrets.
 *
 * @param path a real path
 */
export const redacted = (rule: Rule, path: string): string | undefined => {
  if (rule.source !== "default") return undefined
  const redact = redactions.find(([end]) => rule.pattern.endsWith(end))?.[1]
  const bytes = redact === undefined ? undefined : GitDirectory.readBytes(path, largest)
  const text = bytes === undefined ? undefined : redact?.(bytes.toString("latin1"))
  return text === undefined || holdsSetting(text) ? undefined : text
}

const largest = 256 * 1024
const mostKnown = 10_000

/** What was found, by path, with the state of the file then. */
const known = GlobalValue.globalValue(
  "synapse/DefaultSecrets",
  () => new Map<string, { readonly stamp: string; readonly isHarmless: boolean }>()
)

const judge = (path: string, holdsSecret: (text: string) => boolean): boolean => {
  const at = Fs.lstatSync(path, { throwIfNoEntry: false, bigint: true })
  // A key is denied before it is made, as all that a built-in pattern names; settings are written by tools.
  if (at === undefined) return holdsSecret === holdsSetting
  const stamp = `${at.dev} ${at.ino} ${at.size} ${at.mtimeNs} ${at.ctimeNs}`
  const found = known.get(path)
  if (found?.stamp === stamp) return found.isHarmless
  const bytes = GitDirectory.readBytes(path, largest)
  const isHarmless = bytes !== undefined && !holdsSecret(bytes.toString("latin1"))
  if (known.size >= mostKnown) known.clear()
  known.set(path, { stamp, isHarmless })
  return isHarmless
}

/**
 * Tests whether a file that a built-in rule names holds no secret: it is an example, is published, or has only settings or
 * public keys. What can't be read is taken to hold one.
 *
 * @param path a real path
 */
export const isHarmless = (rule: Rule, path: string): boolean => {
  if (rule.source !== "default") return false
  if (rule.pattern === environment) return example.test(path)
  const holdsSecret = judgeOf(rule)
  if (holdsSecret === undefined) return false
  try {
    return (rule.kind === "glob" && installed.test(path)) || judge(path, holdsSecret)
  } catch {
    return false
  }
}
