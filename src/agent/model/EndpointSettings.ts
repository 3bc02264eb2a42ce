/**
 * Makes the endpoint of a model that was chosen: its address, its key and its limits.
 *
 * @since 0.1.0
 */
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { ExecutionFailed, InvalidUsage } from "../../domain/CommandError.js"
import * as ForeignText from "../../domain/ForeignText.js"
import type { Endpoint, Kind } from "./Endpoint.js"
import type { ModelChoice, Sources } from "./ModelChoice.js"
import * as Proxy from "./Proxy.js"
import * as Retry from "./Retry.js"

type Failure = ExecutionFailed | InvalidUsage

/**
 * Makes the endpoint. Fails where there is no key or no address, or where they can't be sent; the reason names the
 * setting.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (choice: ModelChoice, sources: Sources): Either.Either<Endpoint, Failure> =>
  Either.gen(function* () {
    const { known, model, provider, settings } = choice
    const kind: Kind = settings.kind ?? known?.kind ?? "compatible"
    const { setting: urlSetting, url } = yield* addressOf(choice, sources, kind)
    const { key, setting: keySetting } = yield* keyOf(choice, sources, kind)
    const headers = yield* headersOf(choice, sources)
    const basic = basicOf(url)
    if (basic !== undefined && kind !== "anthropic" && key !== undefined) {
      return yield* wrong(`${urlSetting} holds a user's name, and ${keySetting} a key: only one of them can be sent`)
    }
    const proxy = yield* Proxy.of(sources.settings.variable, url.protocol === "https:" ? "https:" : "http:")
    return {
      provider,
      kind,
      model,
      key,
      keySetting,
      urlSetting,
      baseUrl: baseOf(url, kind),
      headers: { ...(basic === undefined ? {} : { authorization: basic }), ...headers },
      maxOutput: settings.maxOutput,
      isStreaming: settings.stream ?? true,
      timeout: sources.settings.timeout,
      retry: { ...Retry.defaults, retries: sources.settings.retries },
      ...(proxy === undefined ? {} : { proxy })
    }
  })

const wrong = (reason: string): Either.Either<never, InvalidUsage> => Either.left(new InvalidUsage({ reason }))

const missing = (reason: string): Either.Either<never, ExecutionFailed> =>
  Either.left(new ExecutionFailed({ kind: "io", reason }))

const settingIn = ({ file }: Sources, { provider }: ModelChoice, name: string): string =>
  `providers.${ForeignText.word(provider)}.${name} in ${ForeignText.word(file, 300)}`

const addressOf = (choice: ModelChoice, sources: Sources, kind: Kind) => {
  const { known, settings } = choice
  const inFile = settingIn(sources, choice, "baseUrl")
  const either = known === undefined ? inFile : `${known.urlVariable}, or ${inFile}`
  const fromEnv = known === undefined ? undefined : sources.settings.variable(known.urlVariable)
  const text = fromEnv === undefined ? (settings.baseUrl ?? known?.baseUrl) : Redacted.value(fromEnv)
  const usual =
    kind === "anthropic" ? "https://api.anthropic.com" : kind === "openai" ? "https://api.openai.com/v1" : undefined
  const given = text ?? usual
  if (given === undefined) {
    return missing(
      `The provider ${choice.provider} has no address: set ${either} to one such as http://localhost:11434/v1`
    )
  }
  const setting =
    fromEnv !== undefined && known !== undefined ? known.urlVariable : settings.baseUrl === undefined ? either : inFile
  // The address is not shown, for it may hold a password.
  const invalid = wrong(
    `${setting} is no address of a server: it must begin with https:// or http://, and have no "?" and no "#"`
  )
  return URL.canParse(given) && /^https?:\/\//i.test(given) && !/[?#]/.test(given)
    ? Either.right({ url: new URL(given), setting })
    : invalid
}

/** Returns the address up to the version, which the paths of requests stand behind. */
const baseOf = ({ host, pathname, protocol }: URL, kind: Kind): string => {
  const path = pathname.replace(/\/+$/, "").replace(/\/(?:chat\/completions|responses|messages)$/, "")
  const needsVersion = kind === "anthropic" ? !/\/v\d+$/.test(path) : path === ""
  return `${protocol}//${host}${path}${needsVersion ? "/v1" : ""}`
}

/** Returns the header for a user's name and password in an address, which `fetch` refuses there. */
const basicOf = ({ password, username }: URL): Redacted.Redacted | undefined =>
  username === "" && password === ""
    ? undefined
    : Redacted.make(`Basic ${Buffer.from(`${decoded(username)}:${decoded(password)}`).toString("base64")}`)

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const keyOf = (choice: ModelChoice, sources: Sources, kind: Kind) => {
  const { known, provider, settings } = choice
  const variable = settings.apiKeyVariable ?? known?.keyVariable
  const inFile = settingIn(sources, choice, "apiKey")
  const either = variable === undefined ? inFile : `${variable}, or ${inFile}`
  const fromEnv = variable === undefined ? undefined : sources.settings.variable(variable)
  const key = fromEnv ?? settings.apiKey
  if (key === undefined) {
    return kind === "compatible"
      ? Either.right({ key, setting: either })
      : missing(`There is no key for the provider ${provider}: set ${either}`)
  }
  const setting = fromEnv === undefined || variable === undefined ? inFile : variable
  return isSendable(Redacted.value(key))
    ? Either.right({ key, setting })
    : wrong(`The key of ${setting} holds a character that no key has: a space, a line's end, or one that is no ASCII`)
}

const isSendable = (key: string): boolean => /^[\x21-\x7e]+$/.test(key)

const headersOf = (choice: ModelChoice, sources: Sources) => {
  const headers = choice.settings.headers ?? {}
  const bad = Object.entries(headers).find(
    ([name, value]) => !/^[\w!#$%&'*+.^`|~-]+$/.test(name) || !/^[\t\x20-\x7e]*$/.test(Redacted.value(value))
  )
  return bad === undefined
    ? Either.right(Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])))
    : wrong(`${settingIn(sources, choice, "headers")}: ${ForeignText.quoted(bad[0], 80)} can't be sent as a header`)
}
