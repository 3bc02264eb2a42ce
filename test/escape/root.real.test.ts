import { describe } from "@effect/vitest"
import * as Ground from "../support/escape/Ground.js"
import { byRights, byRoot } from "./all.js"

const ground = Ground.take("root")

describe.skipIf(ground === undefined)("attacks by root", () => {
  byRights(ground ?? "")
  byRoot(ground ?? "")
})
