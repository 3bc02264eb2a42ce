/**
 * The built-in blacklist: where secrets usually lie, and which files of those names hold no secret.
 */
import * as Path from "node:path"
import * as GlobalValue from "effect/GlobalValue"
import * as Attempt from "../../domain/Attempt.js"
import * as FileStamp from "../../files/FileStamp.js"
import * as BytePath from "./BytePath.js"
import * as GitDirectory from "./GitDirectory.js"
import { GitHeld } from "./GitHeld.js"
import * as HostPath from "./HostPath.js"
import * as PathRule from "./PathRule.js"
import * as Redaction from "./Redaction.js"
import type { Rule, SandboxPolicy } from "./SandboxPolicy.js"

/** The entries in the syntax of `sandbox.json`. */
export const entries: ReadonlyArray<string> = [
  "~/.ssh ~/.aws ~/.gnupg ~/.config/gcloud ~/.azure",
  // Keys and passwords of services.
  "~/.oci ~/.netrc ~/.authinfo ~/.git-credentials ~/.config/git/credentials ~/.pgpass ~/.my.cnf ~/.mylogin.cnf ~/.vault-token",
  "~/.kube/config ~/.config/gh/hosts.yml ~/.config/hub ~/.config/glab-cli/config.yml ~/.config/github-copilot ~/.pypirc",
  "~/.gem/credentials ~/.local/share/gem/credentials ~/.cargo/credentials ~/.cargo/credentials.toml ~/.composer/auth.json",
  "~/.config/composer/auth.json ~/.config/pypoetry/auth.toml ~/.terraform.d/credentials.tfrc.json ~/.config/doctl/config.yaml",
  "~/.config/containers/auth.json ~/.config/rclone/rclone.conf ~/.s3cfg ~/.boto ~/.fly/config.yml ~/.config/sops",
  "~/.huggingface/token ~/.cache/huggingface/token ~/.claude/.credentials.json ~/.codex/auth.json ~/.gemini/oauth_creds.json",
  "~/.local/share/opencode/auth.json ~/.config/stripe ~/.config/netlify ~/.local/share/com.vercel.cli ~/.config/.wrangler ~/.railway",
  "~/.supabase ~/.config/ngrok ~/.ngrok2 ~/.kaggle ~/.databrickscfg ~/.snowflake ~/.dbt/profiles.yml ~/.config/hcloud",
  "~/.config/linode-cli ~/.config/argocd ~/.config/helm/registry ~/.dockercfg ~/.sentryclirc ~/.subversion/auth ~/.msmtprc",
  "~/.ivy2/.credentials ~/.sbt/.credentials ~/.local/share/uv/credentials ~/.config/age ~/.config/solana ~/.ethereum ~/.bitcoin",
  "~/.claude.json ~/.pulumi/credentials.json ~/.cloudflared ~/.config/configstore ~/.config/scw/config.yaml ~/.cf/config.json",
  "~/.ansible/galaxy_token ~/.smbcredentials ~/.curlrc ~/.wgetrc ~/.electrum ~/.fetchmailrc ~/.mbsyncrc ~/.offlineimaprc",
  "~/.config/weechat ~/.weechat ~/.irssi ~/.purple ~/.config/filezilla ~/.local/share/remmina ~/.config/fish/fish_variables",
  "~/.tsh ~/.circleci/cli.yml ~/.doppler ~/.infisical ~/.android/adbkey ~/.edgerc ~/.jfrog ~/.talos/config ~/.aliyun ~/.ovh.conf",
  "~/.config/neonctl/credentials.json ~/.config/planetscale ~/.config/turso ~/.config/tea/config.yml ~/.modal.toml ~/.mcp-auth",
  "~/.wrangler ~/.clasprc.json ~/.expo/state.json ~/.streamlit/secrets.toml ~/.rye/credentials ~/.config/dart/pub-credentials.json",
  "~/.config/code-server/config.yaml ~/.vnc/passwd ~/.wakatime.cfg ~/.passwd-s3fs ~/.local/share/kwalletd ~/.local/share/TelegramDesktop",
  // Of coding agents, and tools for models.
  "~/.config/goose/secrets.yaml ~/.qwen/oauth_creds.json ~/.config/cursor/auth.json ~/.config/io.datasette.llm/keys.json",
  "~/.gemini/mcp-oauth-tokens.json ~/.gemini/.env ~/.qwen/.env ~/.codex/.env ~/.local/share/opencode/mcp-auth.json ~/.continue/.env",
  "~/.codex/history.jsonl ~/.claude/history.jsonl",
  // Settings that may hold a token.
  "~/.gitconfig ~/.config/git/config ~/.config/uv/uv.toml ~/.config/nix/nix.conf ~/.bunfig.toml ~/.config/pnpm/rc ~/.cargo/config",
  "~/.config/pdm/config.toml ~/.codex/config.toml ~/.claude/settings.json ~/.gemini/settings.json ~/.cursor/mcp.json",
  "~/.copilot/config.json ~/.copilot/mcp-config.json ~/.mc/config.json ~/.tofurc",
  "~/.npmrc ~/.yarnrc ~/.yarnrc.yml ~/.docker/config.json ~/.cargo/config.toml ~/.config/pip/pip.conf ~/.pip/pip.conf ~/.condarc",
  "~/.bundle/config ~/.gradle/gradle.properties ~/.m2/settings.xml ~/.m2/settings-security.xml ~/.nuget/NuGet/NuGet.Config",
  "~/.terraformrc",
  // Shell histories, and stores of passwords and cookies.
  "~/.bash_history ~/.zsh_history ~/.ash_history ~/.sh_history ~/.local/share/fish/fish_history ~/.python_history",
  "~/.node_repl_history ~/.irb_history ~/.psql_history ~/.mysql_history ~/.mariadb_history ~/.sqlite_history ~/.rediscli_history",
  "~/.ipython/profile_default/history.sqlite ~/.ts_node_repl_history ~/.duckdb_history ~/.julia/logs/repl_history.jl",
  "~/.mongodb/mongosh/mongosh_repl_history ~/.local/share/powershell/PSReadLine ~/.config/nushell/history.txt",
  "~/.zhistory ~/.histfile ~/.local/share/atuin ~/.viminfo ~/.lesshst ~/.config/1Password ~/.config/Bitwarden ~/.config/Slack",
  "~/.config/op ~/.password-store ~/.local/share/keyrings ~/.mozilla ~/.thunderbird ~/.config/google-chrome ~/.config/chromium",
  "~/.config/BraveSoftware ~/.config/microsoft-edge ~/.config/vivaldi ~/Library/Keychains ~/Library/Cookies",
  // System files that root can read.
  "/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/security/opasswd /etc/krb5.keytab /etc/ssl/private",
  "/etc/ssh/ssh_host_rsa_key /etc/ssh/ssh_host_ecdsa_key /etc/ssh/ssh_host_ed25519_key /etc/wireguard /etc/letsencrypt",
  "/etc/NetworkManager/system-connections /etc/ppp/chap-secrets /etc/ipsec.secrets /etc/postfix/sasl_passwd",
  "/etc/kubernetes/admin.conf /etc/kubernetes/pki /etc/rancher/k3s/k3s.yaml",
  // Files in projects.
  "**/.env **/.envrc **/.env.* **/.env~ **/credentials.json **/secrets.json **/.netrc **/.git-credentials **/.pgpass **/.pypirc",
  "**/.npmrc **/.yarnrc.yml **/?*.key **/?*.pem **/?*.p12 **/?*.pfx **/?*.jks **/?*.keystore **/id_rsa **/id_dsa **/id_ecdsa **/id_ed25519"
].flatMap((line) => line.split(" "))

const endings = "example sample template tmpl dist defaults schema".split(" ")

/** Matches example files, whose real counterparts hold secrets. */
const example = new RegExp(`\\.(?:${endings.join("|")})$`, "i")
const environment = "**/.env.*"

/** Returns the patterns of files that a rule exempts from its own pattern. */
export const exemptOf = ({ pattern, source }: Rule): ReadonlyArray<string> =>
  source === "default" && pattern === environment
    ? endings.flatMap((ending) => [`/**/.env.${ending}`, `/**/.env.*.${ending}`])
    : []

/** Matches installed packages: their files are published, including keys for tests. */
const installed = /\/(?:node_modules|site-packages|dist-packages)\//

/** Matches a block of certificates, public keys or parameters. */
const publicBlock =
  /^-----BEGIN ((?:(?:TRUSTED |X509 )?CERTIFICATE|(?:NEW )?CERTIFICATE REQUEST|X509 CRL|PKCS7|(?:[RD]SA |EC )?PUBLIC KEY|PGP PUBLIC KEY BLOCK|(?:DH|EC) PARAMETERS))-----\n([^-]*)^-----END \1-----$/gm
/** Matches a line beside certificates that may be a secret: neither a comment nor what tools write about certificates. */
const besideCertificates =
  /^(?!$|[#-]|(?:Bag|Key) Attributes\b|(?:subject|issuer|friendlyName|localKeyID|serial|not(?:Before|After)|No Attributes|Version|Comment)\b|\d+ s:|i:|(?:CN|OU?|C|ST|L)\s*=)./im

const archive = "PK\x03\x04"

/** Shows certificates and public keys with their descriptions, in files whose names are also of private keys. */
const showKey = (text: string): string | undefined => {
  if (text.startsWith(archive)) return text.includes("PRIVATE KEY") ? undefined : text
  const lines = text.split("\n").map((line) => line.trim())
  const whole = lines.join("\n")
  const blocks = whole.replace(publicBlock, (_, _kind, body: string) => body.replace(/^[A-Za-z0-9+/=]+$/gm, ""))
  // In bundles, the names of authorities are underlined, and `openssl -text` says what is in a certificate.
  const rest = blocks.replace(/^.*\n=+$|^Certificate(?: Request)?:\n(?:(?!-).*\n)+/gm, "")
  const isSecret =
    blocks === whole ||
    /\bpriv|pass(?:w|phrase)|secret/i.test(blocks) ||
    besideCertificates.test(rest) ||
    Redaction.token.test(rest) ||
    Redaction.credential.test(rest)
  return isSecret ? undefined : text
}

/** How files of a name are judged, by the ends of their rules' patterns. */
interface Format {
  readonly ends: RegExp
  /** Returns the text without its secrets: the same text if it holds none, undefined if nothing can be shown. */
  readonly show: (text: string) => string | undefined
}

const formats: ReadonlyArray<Format> = [
  { ends: /\/\?\*\.(?:key|pem)$/, show: showKey },
  { ends: /\/(?:\.gitconfig|git\/config)$/, show: Redaction.showGit },
  { ends: /\/(?:mcp-)?(?:config|settings|mcp)\.json$/, show: Redaction.showJson },
  {
    ends: /\/(?:\.npmrc|\.yarnrc(?:\.yml)?|pnpm\/rc|\.?pip\/pip\.conf|\.condarc|\.cargo\/(?:config|credentials)(?:\.toml)?|(?:pdm|\.codex)\/config\.toml|uv\.toml|nix\.conf|\.bunfig\.toml|gradle\.properties|\.bundle\/config|\.(?:terraformrc|tofurc|my\.cnf|curlrc|wgetrc))$/,
    show: Redaction.showLines
  },
  { ends: /\/(?:settings\.xml|NuGet\.Config)$/, show: Redaction.showXml }
]

/** Returns how files of a rule are judged by their text; undefined if the name alone decides. */
export const formatOf = ({ pattern, source }: Rule): Format | undefined =>
  source === "default" ? formats.find(({ ends }) => ends.test(pattern)) : undefined

/**
 * Returns the text of a settings file without its secrets. Undefined if no built-in rule names the file, or if nothing
 * can be shown.
 *
 * @param path a real path
 */
const redacted = (rule: Rule, path: string): string | undefined => {
  const format = formatOf(rule)
  const text = format === undefined ? undefined : readText(path)
  const shown = text === undefined ? undefined : format?.show(text)
  return shown === undefined || format?.show(shown) !== shown ? undefined : shown
}

const largest = 256 * 1024
/** The longest line of settings. A command may write longer ones, for which some patterns take minutes. */
const longest = 1000

/** Reads a file to judge it; undefined if it can't be judged. Keynote's documents are archives. */
const readText = (path: string): string | undefined => {
  const text = GitDirectory.readBytes(path, largest)?.toString("latin1")
  const canBeJudged = text?.startsWith(archive) === true || text?.split("\n").every((line) => line.length <= longest)
  return canBeJudged === true ? text : undefined
}
const mostKnown = 10_000

/** Earlier answers by path, each with the file's state at the time. */
const known = GlobalValue.globalValue(
  "synapse/DefaultSecrets",
  () => new Map<string, { readonly stamp: string; readonly isHarmless: boolean }>()
)

const judge = (path: string, { show }: Format): boolean => {
  // A missing key file is denied, as is all that a built-in pattern names. A missing settings file is not, because
  // tools write it.
  if (HostPath.isMissing(path)) return show !== showKey
  const stamp = FileStamp.settled(BytePath.toHost(path))
  const found = known.get(path)
  if (stamp !== undefined && found?.stamp === stamp) return found.isHarmless
  const text = readText(path)
  const isHarmless = text !== undefined && show(text) === text
  if (known.size >= mostKnown) known.clear()
  if (stamp !== undefined) known.set(path, { stamp, isHarmless })
  return isHarmless
}

/**
 * Tests whether a file that a built-in rule names holds no secret: it is an example, is published, or has only settings
 * or public keys. An unreadable file counts as a secret.
 *
 * @param path a real path
 */
export const isHarmless = (rule: Rule, path: string): boolean => {
  if (rule.source !== "default") return false
  if (rule.pattern === environment) return example.test(path)
  const format = formatOf(rule)
  if (format === undefined) return false
  return Attempt.orElse(() => (rule.kind === "glob" && installed.test(path)) || judge(path, format), false)
}

const isUsers = ({ source }: Rule): boolean => source !== "default" && source !== "own"

/** Tests whether git could commit a stand-in: commands may write the index that lists the file. */
const isCommitted = (policy: Partial<SandboxPolicy>, path: string): boolean => {
  const git = GitHeld.of(policy)
  const { whitelist } = policy
  return (
    git.isTracked(path) &&
    (whitelist === undefined || PathRule.make(whitelist).find(git.indexOf(path) ?? path) !== undefined)
  )
}

/**
 * Returns the text that commands read in place of a file; undefined if they may not open it. Files that git could
 * commit get none. Files hidden by a user's rule get none unless the rule asks for it.
 *
 * @param path a real path
 */
export const standInOf = (
  policy: Pick<SandboxPolicy, "blacklist"> & Partial<SandboxPolicy>,
  rule: Rule,
  path: string
): string | undefined => {
  // Only Linux sandboxes can mount another file in place of one.
  if (process.platform !== "linux") return undefined
  const text = rule.hidden === "empty" ? "" : redacted(rule, path)
  if (text === undefined || !HostPath.isFile(path) || isCommitted(policy, path)) return undefined
  // A rule for the directory hides the directory as a whole.
  if (PathRule.make([rule]).find(Path.posix.dirname(path)) !== undefined) return undefined
  return text === "" || PathRule.make(policy.blacklist.filter(isUsers)).find(path) === undefined ? text : undefined
}

/**
 * Describes a stand-in text, as a phrase for a sentence about the file.
 *
 * @param text what `standInOf` returns
 */
export const describeStandIn = (text: string): string =>
  text === "" ? "as an empty file" : "without what may be a secret"
