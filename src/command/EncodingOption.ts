import * as Option from "effect/Option"
import * as Encoding from "../files/Encoding.js"
import * as Parameter from "./Parameter.js"

/** The option `--encoding`, which names the encoding of a file. */
export const option: Parameter.Parameter<Option.Option<Encoding.Encoding>> = Parameter.optional(
  Parameter.option("encoding").pipe(
    Parameter.withPlaceholder("E"),
    Parameter.filterMap(
      (name) => Option.fromNullable(Encoding.named(name)),
      "--encoding must be the name of an encoding, as latin1 or gbk"
    )
  )
)
