/**
 * Selects the environment variables of a sandboxed shell: known names and names of harmless kinds, but nothing that
 * looks like a secret by name or value. The launcher's whole environment is never passed on, because `env` and `/proc`
 * would show its keys to every command.
 */
import * as ShellEnvironment from "../../session/ShellEnvironment.js"
import * as PathGlob from "../policy/PathGlob.js"
import * as Redaction from "../policy/Redaction.js"

/** Synapse's own variable, by which a session finds its processes. */
const ownName = "SYNAPSE_SESSION"

/** Variables that tools need to find themselves and each other. */
const allowed = [
  // The user and the terminal.
  "PATH HOME USER LOGNAME SHELL LANG LANGUAGE LC_* TZ TERM COLORTERM NO_COLOR FORCE_COLOR COLUMNS LINES TMPDIR PWD SHLVL XDG_*",
  "HOSTNAME EDITOR VISUAL PAGER MANPAGER GIT_PAGER GIT_EDITOR SYSTEMD_PAGER LESS CI SOURCE_DATE_EPOCH",
  // Variables that keep tools from prompting and waiting.
  "DEBIAN_FRONTEND GCM_INTERACTIVE GIT_TERMINAL_PROMPT PIP_NO_INPUT SSH_ASKPASS_REQUIRE PYTHON*",
  // Languages and their package managers.
  "VIRTUAL_ENV CONDA_* MAMBA_* PYENV_* PIPX_* POETRY_* UV_* NVM_* FNM_* VOLTA_* N_PREFIX NODE_ENV NODE_PATH NODE_OPTIONS",
  "NPM_CONFIG_* npm_config_* PNPM_HOME YARN_* COREPACK_* BUN_* DENO_* JAVA_HOME JDK_* M2_HOME MAVEN_* GRADLE_* SDKMAN_*",
  "KOTLIN_* SCALA_* SBT_* GOPATH GOROOT GOBIN GOCACHE GOMODCACHE GOFLAGS GOPROXY CGO_* CARGO_* RUSTUP_* RUSTFLAGS RUST_*",
  "GEM_* BUNDLE_* RBENV_* RUBY* PERL5LIB PERL_* PHP_* COMPOSER_* DOTNET_* NUGET_* ANDROID_* FLUTTER_* DART_* SWIFT_*",
  "ERL_* MIX_* HEX_* GHCUP_* STACK_* OPAM* OCAML* JULIA_* R_* ASDF_* MISE_* NIX_* LOCALE_ARCHIVE GUIX_* HOMEBREW_*",
  "DIRENV_DIR CC CXX CPP LD AR CFLAGS CXXFLAGS CPPFLAGS LDFLAGS MAKEFLAGS CMAKE_* PKG_CONFIG* CUDA_* LD_LIBRARY_PATH",
  "LIBRARY_PATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH MANPATH INFOPATH OMP_NUM_THREADS"
].flatMap((line) => line.split(" "))

/** Matches names of settings of harmless kinds: where something lies or listens, or how a program runs. */
const harmlessKind =
  /(^|_)(ENV|ENVIRONMENT|MODE|MODULE|SETTINGS|DEBUG|VERBOSE|(LOG_?)?LEVEL|RUST_LOG|HOST|PORT|URL|URI|ENDPOINT|REGION|FILE|DIR|PATH|HOME|ROOT|PREFIX|VERSION|LOCALE|ENCODING|THREADS|WORKERS|JOBS|CONCURRENCY|TIMEOUT|CA_BUNDLE|CERTS|APP|PROFILES_ACTIVE)$|^(VITE|REACT_APP|(NEXT|NUXT|EXPO)_PUBLIC)_|^PG(HOST|PORT|USER|DATABASE|SSLMODE|OPTIONS)$|^GO[A-Z]+$|^GIT_(AUTHOR|COMMITTER)_/

const harmlessNames = new Set(["PWD", "OLDPWD", "GOPRIVATE"])

/**
 * Defaults for unset variables. They make error messages the same everywhere, and keep tools from waiting for a missing
 * network.
 */
const defaults: Readonly<Record<string, string>> = {
  // Root can't give files to users whom the sandbox lacks, which GNU tar would try.
  ...(process.platform === "linux" && process.getuid?.() === 0 ? { TAR_OPTIONS: "--no-same-owner" } : undefined),
  // Long enough to ask a person about a host.
  CARGO_HTTP_TIMEOUT: "120",
  CARGO_NET_RETRY: "0",
  GIT_TERMINAL_PROMPT: "0",
  LANG: "C.UTF-8",
  LC_ALL: "C.UTF-8",
  PAGER: "cat",
  PIP_DEFAULT_TIMEOUT: "120",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  // Without any retry, pip reports a missing package instead of the network error.
  PIP_RETRIES: "1",
  UV_HTTP_TIMEOUT: "120",
  npm_config_fetch_retries: "0",
  npm_config_update_notifier: "false"
}

/**
 * Variables that are passed on only if the user names them: they undo a default, or name a directory that the sandbox
 * lacks.
 */
const exceptions = new Set(["LANG", "LC_ALL", "XDG_RUNTIME_DIR"])

/** Makes a test for names by names and prefixes (`LC_*`), without compiling an expression at every start. */
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

/** Tests whether a variable looks like a secret, by name or value. */
export const looksSecret = (name: string, value: string): boolean =>
  (Redaction.secretName.test(name) && !harmlessNames.has(name)) || Redaction.isSecretValue(value)

/**
 * Makes the environment of a sandboxed shell. `names` are names and patterns of further variables that the user passes
 * on. A variable named in full is passed on even if it looks like a secret; patterns leave secrets out.
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

/** Variables that every shell sets by itself. */
const shells = new Set(["_", "COLUMNS", "LINES", "MAIL", "OLDPWD", "PS1", "SHLVL", "UID"])

/**
 * Returns the variables that a sandbox removes and that a command may miss.
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

/** Matches variables that make a program load, run or convert by a file that the variable names. */
const loading = /^(LD_|GLIBC_|GCONV_PATH|LOCPATH|NLSPATH|LOCALE_ARCHIVE|MALLOC_|BASH|ENV$|SHELLOPTS|PS4|IFS$|CDPATH$)/

/**
 * Splits the environment: `outside` for the programs that build the sandbox, `within` only for programs inside. The
 * builder of the next sandbox must not load a library that a sandboxed command wrote.
 */
export const divide = (
  environment: Readonly<Record<string, string>>
): { readonly outside: Record<string, string>; readonly within: Record<string, string> } => {
  const outside: Record<string, string> = {}
  const within: Record<string, string> = {}
  for (const [name, value] of Object.entries(environment)) (loading.test(name) ? within : outside)[name] = value
  return { outside, within }
}
