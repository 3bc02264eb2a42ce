/**
 * Selects the environment variables that a sandboxed shell starts with: known names and names of harmless kinds, without
 * whatever has the name or the value of a secret. The launcher's whole environment is never passed on, because `env` and
 * `/proc` would show its keys to every command.
 */
import * as ShellEnvironment from "../../session/ShellEnvironment.js"
import * as DefaultSecrets from "../policy/DefaultSecrets.js"
import * as PathGlob from "../policy/PathGlob.js"

/** Synapse's own, by which a session finds its processes. */
const ownName = "SYNAPSE_SESSION"

/** Names and patterns of variables that tools need to find themselves and each other. */
const allowed = [
  // The user and the terminal.
  "PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ TERM COLORTERM NO_COLOR FORCE_COLOR COLUMNS LINES TMPDIR PWD SHLVL XDG_*",
  "HOSTNAME EDITOR VISUAL PAGER MANPAGER GIT_PAGER GIT_EDITOR SYSTEMD_PAGER LESS CI SOURCE_DATE_EPOCH",
  // Variables that keep tools from prompting and waiting.
  "DEBIAN_FRONTEND GCM_INTERACTIVE GIT_TERMINAL_PROMPT PIP_NO_INPUT SSH_ASKPASS_REQUIRE PYTHON*",
  // Languages and their managers.
  "VIRTUAL_ENV CONDA_* MAMBA_* PYENV_* PIPX_* POETRY_* UV_* NVM_* FNM_* VOLTA_* N_PREFIX NODE_ENV NODE_PATH NODE_OPTIONS",
  "NPM_CONFIG_* npm_config_* PNPM_HOME YARN_* COREPACK_* BUN_* DENO_* JAVA_HOME JDK_* M2_HOME MAVEN_* GRADLE_* SDKMAN_*",
  "KOTLIN_* SCALA_* SBT_* GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOFLAGS GOPROXY CGO_* CARGO_* RUSTUP_* RUSTFLAGS RUST_*",
  "GEM_* BUNDLE_* RBENV_* RUBY* PERL5LIB PERL_* PHP_* COMPOSER_* DOTNET_* NUGET_* ANDROID_* FLUTTER_* DART_* SWIFT_*",
  "ERL_* MIX_* HEX_* GHCUP_* STACK_* OPAM* OCAML* JULIA_* R_* ASDF_* MISE_* NIX_* LOCALE_ARCHIVE GUIX_* HOMEBREW_*",
  "DIRENV_DIR CC CXX CPP LD AR CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS CMAKE_* PKG_CONFIG* CUDA_* LD_LIBRARY_PATH",
  "LIBRARY_PATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH MANPATH INFOPATH OMP_NUM_THREADS"
].flatMap((line) => line.split(" "))

/** Matches names that tell what kind of setting they are: where something lies or listens, how a program runs. */
const harmlessKind =
  /(^|_)(ENV|ENVIRONMENT|MODE|MODULE|SETTINGS|DEBUG|VERBOSE|(LOG_?)?LEVEL|RUST_LOG|HOST|PORT|URL|URI|ENDPOINT|REGION|FILE|DIR|PATH|HOME|ROOT|PREFIX|VERSION|LOCALE|ENCODING|THREADS|WORKERS|JOBS|CONCURRENCY|TIMEOUT|CA_BUNDLE|CERTS|APP|PROFILES_ACTIVE)$|^(VITE|REACT_APP|(NEXT|NUXT|EXPO)_PUBLIC)_|^PG(HOST|PORT|USER|DATABASE|SSLMODE|OPTIONS)$|^GO[A-Z]+$|^GIT_(AUTHOR|COMMITTER)_/

/** Matches the names of variables that hold secrets. Bundler names credentials by their hosts (`BUNDLE_GEMS__EXAMPLE__COM`). */
const secretName =
  /KEY|TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|AUTH(?!OR_)|COOKIE|PRIVATE|WEBHOOK|(^|_)(PASS|PAT|PWD|DSN)($|_)|^BUNDLE_.*__/i
const harmlessNames = new Set(["PWD", "OLDPWD", "GOPRIVATE"])

/**
 * Values for variables that the environment does not set: they make error messages the same everywhere, and keep tools
 * from waiting for a network that is not there.
 */
const defaults: Readonly<Record<string, string>> = {
  // Root may give no file to a user whom the sandbox does not have, as GNU tar tries for root.
  ...(process.platform === "linux" && process.getuid?.() === 0 ? { TAR_OPTIONS: "--no-same-owner" } : undefined),
  // A person may be asked about a host meanwhile.
  CARGO_HTTP_TIMEOUT: "120",
  CARGO_NET_RETRY: "0",
  GIT_TERMINAL_PROMPT: "0",
  LANG: "C.UTF-8",
  LC_ALL: "C.UTF-8",
  PAGER: "cat",
  PIP_DEFAULT_TIMEOUT: "120",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  // With no retry at all, pip says that there is no such package, and not why it could not look.
  PIP_RETRIES: "1",
  UV_HTTP_TIMEOUT: "120",
  npm_config_fetch_retries: "0",
  npm_config_update_notifier: "false"
}

/**
 * Variables that are passed on only where the user names them: they undo a default, or name a directory that the
 * sandbox does not have.
 */
const exceptions = new Set(["LANG", "LC_ALL", "XDG_RUNTIME_DIR"])

/** Tests names by a list of names and of beginnings (`LC_*`), which takes no compiling at every start. */
const toAllowed = (patterns: ReadonlyArray<string>): ((name: string) => boolean) => {
  const names = new Set(patterns)
  const beginnings = patterns.flatMap((pattern) => (pattern.endsWith("*") ? [pattern.slice(0, -1)] : []))
  return (name) => names.has(name) || beginnings.some((beginning) => name.startsWith(beginning))
}

const toNames = (patterns: ReadonlyArray<string>): ((name: string) => boolean) => {
  if (patterns.length === 0) return () => false
  const names = new Set(patterns.filter((pattern) => !PathGlob.hasWildcard(pattern)))
  const expression = PathGlob.compileNames(patterns.filter(PathGlob.hasWildcard), false)
  return (name) => names.has(name) || expression.test(name)
}

const isAllowed = toAllowed(allowed)
const isHarmless = (name: string): boolean =>
  !exceptions.has(name) && (isAllowed(name) || (harmlessKind.test(name) && !loading.test(name)))

/** Tests whether a variable looks like a secret, by its name or its value. */
export const looksSecret = (name: string, value: string): boolean =>
  (secretName.test(name) && !harmlessNames.has(name)) || DefaultSecrets.isSecretValue(value)

/**
 * Makes the environment of a sandboxed shell. `names` are names and patterns of further variables that the user passes
 * on: a variable named in full is passed on whatever it looks like, a pattern leaves secrets out.
 */
export const make = (
  environment: Readonly<Record<string, string>>,
  names: ReadonlyArray<string> = []
): Record<string, string> => {
  const spelled = new Set(names)
  const isWanted = toNames(names)
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(environment)) {
    if (spelled.has(name) || name === ownName) kept[name] = value
    else if (!looksSecret(name, value) && (isWanted(name) || isHarmless(name))) kept[name] = value
  }
  // npm reads its variables in any case.
  const set = new Set(Object.keys(kept).map((name) => name.toLowerCase()))
  return { ...Object.fromEntries(Object.entries(defaults).filter(([name]) => !set.has(name.toLowerCase()))), ...kept }
}

/** Variables that every shell has of itself, whatever was passed on. */
const shells = new Set(["_", "COLUMNS", "LINES", "MAIL", "OLDPWD", "PS1", "SHLVL", "UID"])

/**
 * Returns the names of the variables that a sandbox leaves out, and that a command may miss.
 *
 * @param kept the environment that `make` has made of it
 */
export const withheld = (
  environment: Readonly<Record<string, string>>,
  kept: Readonly<Record<string, string>>
): ReadonlyArray<string> =>
  Object.entries(environment).flatMap(([name, value]) =>
    value === "" || Object.hasOwn(kept, name) || shells.has(name) || ShellEnvironment.refusal(name) !== undefined
      ? []
      : [name]
  )

/** Matches variables that make a program load, run or convert by a file that somebody has chosen. */
const loading = /^(LD_|GLIBC_|GCONV_PATH|LOCPATH|NLSPATH|LOCALE_ARCHIVE|MALLOC_|BASH|ENV$|SHELLOPTS|PS4|IFS$|CDPATH$)/

/**
 * Divides the environment into the variables that the programs which build the sandbox may have (`outside`), and those
 * that only the programs in it may have (`within`): the next sandbox's builder must not load a library that a sandbox
 * wrote.
 */
export const divide = (
  environment: Readonly<Record<string, string>>
): { readonly outside: Record<string, string>; readonly within: Record<string, string> } => {
  const outside: Record<string, string> = {}
  const within: Record<string, string> = {}
  for (const [name, value] of Object.entries(environment)) (loading.test(name) ? within : outside)[name] = value
  return { outside, within }
}
