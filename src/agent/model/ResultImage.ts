/**
 * The images of a tool's result, which a conversation keeps in the options of the result. A LanguageModel of another
 * provider of `@effect/ai` gets the text only.
 */
import * as Prompt from "@effect/ai/Prompt"
import * as Wire from "./internal/Wire.js"

/** An image; its bytes are in base64. */
export interface ResultImage {
  readonly mediaType: string
  readonly base64: string
}

/** The types that all providers take. */
const types: ReadonlyArray<string> = ["image/png", "image/jpeg", "image/gif", "image/webp"]

const key = "synapse"

/** Returns the images of a result, which may come from an edited transcript. */
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
