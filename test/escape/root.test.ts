import { describe } from "@effect/vitest"
import { all } from "./all.js"
import * as Ground from "./Ground.js"

const ground = Ground.take("root")

describe.skipIf(ground === undefined)("attacks by root", () => all(ground ?? ""))
