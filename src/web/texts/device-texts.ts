import type { Markup } from '../markup.ts'

/** The texts of the pages for a device that shows a code, in one language. */
export interface DeviceTexts {
  readonly title: string
  readonly typeCode: string
  readonly code: string
  readonly codeHint: string
  readonly sentByOthers: string
  readonly codeMissing: string
  readonly codeWrong: string
  /** Above a form to sign in. It does not name the client, which may lie. */
  readonly signIn: string

  readonly heading: string
  readonly isShown: string
  readonly saysItIs: (client: Markup) => Markup
  readonly is: (client: Markup) => Markup
  readonly askedHere: (ago: string) => string
  readonly askedElsewhere: (ago: string, network: Markup) => Markup
  readonly phishing: string
  readonly isOwn: string
  readonly unconfirmed: string
  readonly connect: string

  readonly connected: string
  readonly goBack: string
  readonly notYou: (connectedApps: Markup) => Markup
  readonly denied: string
  readonly deniedHint: string
  readonly refused: string
  readonly startAgain: string
}
