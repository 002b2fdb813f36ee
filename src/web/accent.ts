/** The colours that depend on the operator's accent, in one scheme. All are `#rrggbb`. */
export interface AccentColours {
  /** The main button: the accent itself, unless it would vanish into the card. */
  readonly fill: string
  /** The main button under the pointer: a step further away from its text. */
  readonly fillHover: string
  readonly fillText: string
  /** Links, ticks and focus rings: the accent as far towards black or white as reading needs. */
  readonly ink: string
}

/** What the accent is seen against in a scheme; `ink` is where it turns to when it is too faint. */
export interface Scheme {
  readonly backgrounds: readonly string[]
  readonly ink: '#000000' | '#ffffff'
  /** The contrast to the backgrounds at which a button is still seen to be one. */
  readonly distinct: number
}

const readable = 4.5

/**
 * Derives readable colours from any accent. WCAG 2.2 §1.4.3: at least 4.5:1.
 *
 * Black or white text always reaches it, because the two contrasts of a colour multiply to 21.
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

/** A grey accent that would vanish turns over entirely, because a half-way grey looks switched off. */
function fillOf(accent: string, scheme: Scheme): string {
  const fill = towardsInk(accent, scheme, scheme.distinct)
  const isGrey = Math.max(...channels(accent)) - Math.min(...channels(accent)) < 24
  return isGrey && fill !== accent ? mix(accent, scheme.ink, 0.9) : fill
}

/** The accent, mixed with the scheme's ink just until it stands out enough from every background. */
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
