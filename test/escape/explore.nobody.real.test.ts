import { describe } from "@effect/vitest"
import * as Ground from "../support/escape/Ground.js"
import { explore } from "./explore.js"

const ground = Ground.take("nobody")

describe.skipIf(ground === undefined || !Ground.seesCheckout())(
  "a sub-agent of an ordinary user that may only read",
  () => explore(ground ?? "")
)
