/**
 * The images of a tool's result, kept in the result's options. A LanguageModel of another `@effect/ai` provider only
 * gets the text.
 */
import * as Prompt from "@effect/ai/Prompt"
import * as Wire from "./internal/Wire.js"

export interface ResultImage {
  readonly mediaType: string
  readonly base64: string
}

/** The types that all providers accept. */
const types: ReadonlyArray<string> = ["image/png", "image/jpeg", "image/gif", "image/webp"]

const key = "synapse"

/** Returns the images of a result. A person may have edited the transcript that it comes from, so they are checked. */
export const of = ({ options }: Prompt.ToolResultPart): ReadonlyArray<ResultImage> =>
  Wire.listAt(options, key, "images").flatMap((image) => {
    const mediaType = Wire.textAt(image, "mediaType")
    const base64 = Wire.textAt(image, "base64")
    return types.includes(mediaType) && base64 !== "" ? [{ mediaType, base64 }] : []
  })

export const put = (part: Prompt.ToolResultPart, images: ReadonlyArray<ResultImage>): Prompt.ToolResultPart => {
  const { [key]: own, ...others } = part.options
  const { images: _, ...rest } = own ?? {}
  const kept = images.length === 0 ? rest : { ...rest, images }
  return Prompt.toolResultPart({
    ...part,
    options: Object.keys(kept).length === 0 ? others : { ...others, [key]: kept }
  })
}

export const urlOf = ({ base64, mediaType }: ResultImage): string => `data:${mediaType};base64,${base64}`
