/** A clock whose timers do not keep the process alive: periodic work ends with the program. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Timeout from "../domain/Timeout.js"

const live = Clock.make()

const clock: Clock.Clock = {
  [Clock.ClockTypeId]: Clock.ClockTypeId,
  unsafeCurrentTimeMillis: () => live.unsafeCurrentTimeMillis(),
  currentTimeMillis: live.currentTimeMillis,
  unsafeCurrentTimeNanos: () => live.unsafeCurrentTimeNanos(),
  currentTimeNanos: live.currentTimeNanos,
  sleep: (duration) =>
    Effect.async((resume) => {
      const milliseconds = Duration.toMillis(duration)
      // A longer sleep never ends, as with Effect's own clock.
      if (milliseconds > Timeout.longest) return
      const timer = setTimeout(() => resume(Effect.void), milliseconds).unref()
      return Effect.sync(() => clearTimeout(timer))
    })
}

/** A layer which sets this clock for what is built with it. */
export const layer: Layer.Layer<never> = Layer.setClock(clock)
