/** The colours that depend on the operator's accent colour, in one colour scheme. All are `#rrggbb`. */
export interface AccentColours {
  /** The main button: the accent itself, unless it is too similar to the card's background. */
  readonly fill: string
  /** The main button under the pointer: with a little more contrast to its text. */
  readonly fillHover: string
  readonly fillText: string
  /** Links, ticks and focus rings: the accent, mixed with black or white until it is readable. */
  readonly ink: string
}

/**
 * A colour scheme: the backgrounds behind the accent, and the colour that an accent with too little contrast is mixed with.
 */
export interface Scheme {
  readonly backgrounds: readonly string[]
  readonly ink: '#000000' | '#ffffff'
  /** The least contrast between a button and the backgrounds. */
  readonly distinct: number
}

const readable = 4.5

/**
 * Derives readable colours from any accent. WCAG 2.2 §1.4.3: a contrast of at least 4.5:1.
 *
 * Black or white text always reaches that, because the contrasts of a colour to black and to white multiply to 21.
 */
export function accentColours(accent: string, scheme: Scheme): AccentColours {
  if (!/^#[0-9a-f]{6}$/i.test(accent)) throw new Error('The accent is not #rrggbb.')
  const fill = fillOf(accent, scheme)
  const fillText = contrast(fill, '#ffffff') >= readable ? '#ffffff' : '#000000'
  const fillHover = mix(fill, fillText === '#ffffff' ? '#000000' : '#ffffff', 0.14)
  return { fill, fillHover, fillText, ink: towardsInk(accent, scheme, readable) }
}

/** Contrast ratio of two colours, 1 to 21. WCAG 2.2, "contrast ratio". */
export function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((left, right) => left - right)
  return (light + 0.05) / (dark + 0.05)
}

/**
 * A grey accent with too little contrast is replaced by nearly black or white, because a medium grey button looks disabled.
 */
function fillOf(accent: string, scheme: Scheme): string {
  const fill = towardsInk(accent, scheme, scheme.distinct)
  const isGrey = Math.max(...channels(accent)) - Math.min(...channels(accent)) < 24
  return isGrey && fill !== accent ? mix(accent, scheme.ink, 0.9) : fill
}

/** The accent, mixed with the scheme's ink until its contrast to every background is enough. */
function towardsInk(accent: string, scheme: Scheme, enough: number): string {
  const seen = (colour: string): boolean =>
    scheme.backgrounds.every((background) => contrast(colour, background) >= enough)
  if (seen(accent)) return accent
  for (let share = 0.04; share < 1; share += 0.04) {
    const ink = mix(accent, scheme.ink, share)
    if (seen(ink)) return ink
  }
  return scheme.ink
}

/** Relative luminance, 0 to 1. WCAG 2.2, "relative luminance". */
function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = channels(colour).map((channel) => {
    const value = channel / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function mix(colour: string, other: string, share: number): string {
  const others = channels(other)
  const mixed = channels(colour).map((channel, index) => Math.round(channel + ((others[index] ?? 0) - channel) * share))
  return `#${mixed.map((channel) => channel.toString(16).padStart(2, '0')).join('')}`
}

function channels(colour: string): readonly number[] {
  return [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16))
}
