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
import type { Rule, SandboxPolicy } from "./SandboxPolicy.js"

/** Matches tokens by their issuers' prefixes, and private keys. */
const token =
  /(?<![A-Za-z0-9])(gh[a-z]_\w{8}|github_pat_|gl(?!obal-)[a-z]{2,5}-\w{8}|sk[-_][\w-]{10}|rk_live_|xox[a-z]-|A[KS]IA[A-Z0-9]{12}|AIza\w{8}|ya29\.|npm_\w{8}|pypi-\w{8}|hf_\w{8}|SG\.\w{8}|shp[a-z]{2}_\w{8}|do[a-z]_v1_|eyJ\w{8}|sq0[a-z]{3}-|GOCSPX-|whsec_|hvs\.\w{8}|lin_api_|ntn_\w{8}|NRAK-|PMAK-|ATATT\w{8}|gsk_\w{8}|B(earer|asic) \w{8}|bot\d{8,}:|AGE-SECRET)|-----BEGIN/
/** Matches an address with a user other than git's, and the path in which conda puts its token. */
const address = /:\/\/(?!git@)[^/\s@]+@|(?:^|[\s"'=])[^/\s:@"'=]+:[^/\s@]+@|\/t\/[^/]{6,}\//
const credential = new RegExp(
  `${address.source}|[?&][^=&?\\s]*(auth|key|pwd|sig)[^=&?\\s]*=|(passw(or)?d|passphrase|pwd|secret|token|api[-_]?key|access[-_]?key|credential)s?["']?\\s*[=:]\\s*\\S`,
  "i"
)
const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/i

/**
 * Tests for a long word with digits whose characters change kind more often than in words: a base64 or hexadecimal key.
 */
const isRandom = (word: string): boolean =>
  word.length >= 20 &&
  /\d/.test(word) &&
  (word.match(/(?<=[a-z])[^a-z]|(?<=[A-Z])[^A-Z]|(?<=\d)\D/g)?.length ?? 0) / word.length >= 0.25

/** Tests whether a value is a secret. Random words in paths are not secrets: builds and caches have such names. */
export const isSecretValue = (value: string): boolean =>
  token.test(value) ||
  credential.test(value) ||
  uuid.test(value) ||
  (!/^[/.~]|:\/(?!\/)/.test(value) &&
    value.split(value.includes("://") ? /[^A-Za-z0-9]+/ : /[^A-Za-z0-9+/=]+/).some(isRandom))

/** Matches names of secrets, and of hosts in Bundler's settings. */
const secretName =
  /auth(?!or)|(?<!max\w*)token|pass|pwd|secret|credential|cookie|private|header|(?<!public[-_]?|cache[-_]?)key(?!ring|board)|^bundle_(?!build|local|mirror)\w*__/i
/** Matches names that say where a secret is, or how it is used. */
const plainName = /(?:files?|paths?|dirs?|stores?|helpers?|providers?|types?|methods?|env[-_]?(?:key|var))$/i
/** Matches values that are never secrets, whatever their name: switches and variables. */
const plainValue =
  /^\s*["']?(?:true|false|yes|no|null|none|(?:Bearer )?\$(?:\{[\w.:]+\??\}|[a-z]+(?:_[a-z]+)+)|%\w+%)["']?[\s,}\]]*$/i
/** Matches options of curl whose value is a user with a password, or a header. */
const pairOption = /^(?:-[uUH]|--(?:proxy-)?user)$/

/** Tests a setting by its name and its value. `isWithin`: a setting around it is named as a secret. */
const isSecret = (name: string, value: string, isWithin = false): boolean =>
  isSecretValue(value) ||
  (pairOption.test(name) && value.includes(":")) ||
  (!plainName.test(name) && (isWithin || secretName.test(name)) && !plainValue.test(value))

/** Removes the user and the password from addresses. */
const withoutUser = (text: string): string => text.replace(/(:\/\/)(?!git@)[^/\s@"']*@/g, "$1")

const first = "# Synapse shows this file without its secrets."

/** Matches the beginning of a setting, as opposed to more of the last setting's value. */
const beginning = /^(?:\[[^\]]*\]+$|(?!-\s)[^\s#;[\](){}][^=:]*?(?:=|:\s|:$|:\S*\s*=))/
/** Matches names in a line, including names in a nested table and options in a list. */
const names = /(?<![\w.@/-])([\w.@/-]+)["']?(?:\s*[=:](?!\/\/)|\s+(?=["'\d]))|(--?[a-z][\w-]*)["'],(?=\s*["'])/gi
/** Matches a user with a password, as curl has them. */
const userOption =
  /(?:(?:^|[\s-])u(?:ser)?["']?[\s=]+["']?|(?:^|[\s"'])-[a-z]{0,3}u["']?)[^\s"':=/-][^\s"':=]*:[^\s"'/]/i
/** Matches a comment that may name a secret in plain words. */
const toldSecret = /\b(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[-_ ]?key)\s+["'\w]/i
/** Matches the start of a multi-line value that indentation does not mark. */
const spanning = /"""|'''|\\$/m

/** Returns a line without the secret in it; undefined if the line must be left out. */
const harmless = (line: string): string | undefined => {
  const text = withoutUser(line)
  const bare = text.replace(/^(\s*(?:extra-)?trusted-public-keys\s*=).*/, "$1")
  const found = Array.from(bare.matchAll(names))
  const isAny = found.some(({ 0: all, 1: name, 2: option = "", index }, at) => {
    const value = bare.slice(index + all.length, name === undefined ? undefined : found[at + 1]?.index)
    return isSecretValue(name ?? option) || isSecret(name ?? option, value.trim())
  })
  const isValue = found.length === 0 && isSecretValue(bare.replace(/^\s*-\s/, "").trim())
  return isAny || isValue || [token, address, userOption].some((secret) => secret.test(text)) ? undefined : text
}

/** Matches a line that has the form of a setting, or of more of its value. */
const setting =
  /^\s*(?:$|[#;[\]{}"'<,!-]|[\w@./:$ {}*[\]-]+\s*[=:]|[a-z][a-z-]*\s*$|[\w@:.-]+ (?:"[^"]*"|\d+|true|false)\s*$)|^\s+[\w./:@*-]+,?\s*$/

const isTelling = (comment: string): boolean => harmless(comment) !== comment || toldSecret.test(comment)

/** Tests for a secret in a file with one setting per line, also in its comments. */
const holdsLine = (text: string): boolean =>
  text.split(/\r?\n/).some((line) => {
    const [shown = "", ...comments] = line.split(/(?:^|\s)[#;]+/)
    return !setting.test(line) || harmless(shown) !== shown || comments.some(isTelling)
  })

/** Redacts a file with one setting per line: ini, properties, TOML or YAML. */
export const redactLines = (text: string): string | undefined => {
  if (spanning.test(text)) return undefined
  const kept = [first]
  /** The indentation of the setting that was left out, whose value may continue on the next lines. */
  let skipped: { readonly indent: number; readonly isItem: boolean } | undefined
  for (const line of text.split(/\r?\n/)) {
    const bare = line.trimStart()
    if (bare === "" || /^[#;]/.test(bare)) continue
    const indent = line.length - bare.length
    const isItem = /^-\s/.test(bare)
    if (skipped !== undefined && (indent > skipped.indent || !(beginning.test(bare) || (isItem && skipped.isItem))))
      continue
    skipped = undefined
    const shown = /\s[#;]/.test(line) ? undefined : harmless(line)
    if (shown === undefined) skipped = { indent, isItem }
    else kept.push(shown)
  }
  return `${kept.join("\n")}\n`
}

/** Tests for an option of a command, whose value may be the next word. */
const isOption = (word: unknown): word is string => typeof word === "string" && /^--?[a-z][\w-]*$/i.test(word)

/** Removes what is secret. In `auths`, the names are the addresses of registries. */
const withoutSecrets = (value: unknown, isWithin = false): unknown => {
  if (typeof value === "string") return withoutUser(value)
  if (Array.isArray(value))
    return value
      .filter((one, at) => !isSecretJson(isOption(value[at - 1]) ? value[at - 1] : "", one, isWithin))
      .map((one) => withoutSecrets(one, isWithin))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      isSecretJson(name, inner, isWithin)
        ? []
        : [
            [
              name,
              withoutSecrets(inner, isWithin || (secretName.test(name) && !plainName.test(name) && name !== "auths"))
            ]
          ]
    )
  )
}

/** A number with few digits is a setting. */
const isSecretJson = (name: string, value: unknown, isWithin: boolean): boolean =>
  isSecretValue(name) ||
  (typeof value === "string" && (isSecret(name, withoutUser(value), isWithin) || userOption.test(value))) ||
  (typeof value === "number" && value > 9999 && isSecret(name, String(value), isWithin))

/** Matches strings, and comments or commas that JSON does not have. */
const strings = /"(?:[^"\\\n]|\\.)*"/g
const beyondJson = /("(?:[^"\\\n]|\\.)*")|\/\/(.*)|\/\*([\s\S]*?)(?:\*\/|$)|,(?=\s*[}\]])/g

/** Reads JSON with comments, in which no name stands twice. */
const parseJson = (text: string): unknown =>
  Attempt.orUndefined(() => {
    const bare = text.replace(beyondJson, "$1").replace(beyondJson, "$1")
    const json: unknown = JSON.parse(bare.trim() || "{}")
    return bare.match(strings)?.length === JSON.stringify(json).match(strings)?.length ? json : undefined
  })

const holdsJson = (text: string): boolean => {
  const json = parseJson(text)
  const comments = Array.from(text.matchAll(beyondJson), ([, , line, block]) => line ?? block ?? "")
  return JSON.stringify(withoutSecrets(json)) !== JSON.stringify(json) || json === undefined || comments.some(isTelling)
}

export const redactJson = (text: string): string | undefined =>
  Attempt.orUndefined(() => {
    const json = parseJson(text)
    return json === undefined ? undefined : `${JSON.stringify(withoutSecrets(json), null, 2)}\n`
  })

/** Matches an element's beginning with its text, and tags without text. */
const tags = /<[\w.-]+[^<>]*>[^<]*|<[/?!][^<>]*>/g
/** Matches XML that can't be judged: CDATA, single quotes, a value before its key, and NuGet's list of keys. */
const otherXml = /<!\[|=\s*'|\bvalue="[^"]*"\s+key=|<apikeys>\s*</i

/** Tests for a secret in XML: in elements, attributes and comments. Text outside of elements counts as one. */
const holdsXml = (text: string): boolean => {
  const bare = text.replace(/<!--[\s\S]*?-->/g, "").replace(/\s*=\s*(?=["'])/g, "=")
  return (
    otherXml.test(bare) ||
    bare
      .replace(/^\xef\xbb\xbf/, "")
      .replace(tags, "")
      .trim() !== "" ||
    token.test(text) ||
    withoutUser(text) !== text ||
    Array.from(text.matchAll(/<!--([\s\S]*?)-->/g), ([, comment = ""]) => comment.split("\n"))
      .flat()
      .some(isTelling) ||
    // Also what a comment has taken out.
    [text, bare].some((xml) =>
      [
        ...xml.matchAll(/<([\w.:-]+)[^<>]*>([^<]*[^<\s])/g),
        ...xml.matchAll(/<name>([^<]*)<\/name>\s*<value>([^<]*)/g),
        ...xml.matchAll(/\bkey="([^"]*)"\s+value="([^"]*)"/g),
        ...xml.matchAll(/\b(?!key=)([\w.-]+)="([^"]*)"/g)
      ].some(([, name = "", value = ""]) => isSecret(name, value))
    )
  )
}

/** Matches a user in a web address, which may be a token, or a password in any address. */
const gitUser = /(https?:\/\/)(?!git@)[^/\s@"']+@|(:\/\/[^/\s:@"']*):[^/\s@"']+(?=@)/gi
/** Matches a setting or shell text of git's configuration that is named like a secret. */
const gitSecret =
  /(?:(?<!ask)pass|pwd|passw(?:or)?d|passphrase|token|secret|extraheader|proxy\s*=.*@|(?<!signing)key|cookie|authorization)["']?\s*[=:\s]\s*["']?\S|\bcurl\s.*-u/i
const holdsGitSecret = (text: string): boolean => {
  const whole = text.replace(/\\\r?\n/g, "")
  return (
    whole !== whole.replace(gitUser, "$1$2") ||
    whole.split("\n").some((line) => gitSecret.test(line) || token.test(line))
  )
}

/** Redacts git's configuration, line by line: git must go on reading the rest. */
const redactGit = (text: string): string =>
  [
    first,
    ...text
      .replace(/^\xef\xbb\xbf/, "")
      .replace(/^[ \t]*[#;].*\n/gm, "")
      .replace(/(?<!\\)((?:\\\\)*)\\\r?\n/g, "$1")
      .split("\n")
  ]
    .map((line) => line.replace(gitUser, "$1$2"))
    .flatMap((line) => (!holdsGitSecret(line) ? [line] : /^\s*\[/.test(line) ? ["[hidden]"] : []))
    .join("\n")

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

/** Tests for more than certificates and public keys with their descriptions, in files whose names are also of private keys. */
const holdsKey = (text: string): boolean => {
  if (text.startsWith(archive)) return text.includes("PRIVATE KEY")
  const lines = text.split("\n").map((line) => line.trim())
  const whole = lines.join("\n")
  const blocks = whole.replace(publicBlock, (_, _kind, body: string) => body.replace(/^[A-Za-z0-9+/=]+$/gm, ""))
  // In bundles, the names of authorities are underlined, and `openssl -text` says what is in a certificate.
  const rest = blocks.replace(/^.*\n=+$|^Certificate(?: Request)?:\n(?:(?!-).*\n)+/gm, "")
  return (
    blocks === whole ||
    /\bpriv|pass(?:w|phrase)|secret/i.test(blocks) ||
    besideCertificates.test(rest) ||
    token.test(rest) ||
    credential.test(rest)
  )
}

/** Files that may or may not hold a secret, by the ends of their rules' patterns. */
interface Format {
  readonly ends: RegExp
  /** Tests for a secret in the file's text. */
  readonly holds: (text: string) => boolean
  /** Returns the text without its secrets; undefined if they can't be told apart. */
  readonly redact?: (text: string) => string | undefined
}

const formats: ReadonlyArray<Format> = [
  { ends: /\/\?\*\.(?:key|pem)$/, holds: holdsKey },
  { ends: /\/(?:\.gitconfig|git\/config)$/, holds: holdsGitSecret, redact: redactGit },
  { ends: /\/(?:mcp-)?(?:config|settings|mcp)\.json$/, holds: holdsJson, redact: redactJson },
  {
    ends: /\/(?:\.npmrc|\.yarnrc(?:\.yml)?|pnpm\/rc|\.?pip\/pip\.conf|\.condarc|\.cargo\/(?:config|credentials)(?:\.toml)?|(?:pdm|\.codex)\/config\.toml|uv\.toml|nix\.conf|\.bunfig\.toml|gradle\.properties|\.bundle\/config)$/,
    holds: holdsLine,
    redact: redactLines
  },
  { ends: /\/\.(?:terraformrc|tofurc|my\.cnf|curlrc|wgetrc)$/, holds: holdsLine },
  { ends: /\/(?:settings\.xml|NuGet\.Config)$/, holds: holdsXml }
]

const formatOf = ({ pattern, source }: Rule): Format | undefined =>
  source === "default" ? formats.find(({ ends }) => ends.test(pattern)) : undefined

/** Returns the test that decides on files of a rule by their text; undefined if the name alone decides. */
export const judgeOf = (rule: Rule): ((text: string) => boolean) | undefined => formatOf(rule)?.holds

/**
 * Returns the text of a settings file without its secrets. Undefined if no built-in rule names the file, or if secrets
 * can't be told apart.
 *
 * @param path a real path
 */
const redacted = (rule: Rule, path: string): string | undefined => {
  const { holds, redact } = formatOf(rule) ?? {}
  const read = redact === undefined ? undefined : readText(path)
  const text = read === undefined ? undefined : redact?.(read)
  return text === undefined || holds?.(text) === true ? undefined : text
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

const judge = (path: string, holdsSecret: (text: string) => boolean): boolean => {
  // A missing key file is denied, as is all that a built-in pattern names. A missing settings file is not, because
  // tools write it.
  if (HostPath.isMissing(path)) return holdsSecret !== holdsKey
  const stamp = FileStamp.settled(BytePath.toHost(path))
  const found = known.get(path)
  if (stamp !== undefined && found?.stamp === stamp) return found.isHarmless
  const text = readText(path)
  const isHarmless = text !== undefined && !holdsSecret(text)
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
  const holdsSecret = judgeOf(rule)
  if (holdsSecret === undefined) return false
  return Attempt.orElse(() => (rule.kind === "glob" && installed.test(path)) || judge(path, holdsSecret), false)
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
export const describeStandIn = (text: string): string => (text === "" ? "as an empty file" : "without its secrets")
