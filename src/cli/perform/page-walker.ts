import { AdminError } from '../../admin/admin-error.ts'
import { ANSWER_LIMIT_MS } from '../../doctor/discovery.ts'

/** The maximum number of responses between the authorization request and its response. */
const STEP_LIMIT = 10

export interface Credentials {
  readonly email: string
  readonly password: string
}

/** Signs in and consents, like a user without scripts, until the response has reached the redirect URI. */
export async function signInAndAllow(start: string, redirectUri: string, credentials: Credentials): Promise<void> {
  const browser = openBrowser()
  let response = await browser.get(start)
  let hasSignedIn = false
  for (let step = 0; step < STEP_LIMIT; step += 1) {
    const location = response.headers.get('location')
    if (location !== null) {
      const target = new URL(location, response.url)
      response = await browser.get(target.href)
      if (target.href.startsWith(`${redirectUri}?`)) return
      continue
    }
    const page = await response.text()
    const form = readForm(page, response.url)
    if (form?.fields.has('password') === true) {
      if (hasSignedIn)
        throw new AdminError(`The server rejected the sign-in of ${credentials.email}. Check the password.`)
      hasSignedIn = true
      response = await browser.post(form.action, { ...form.hidden, ...credentials })
    } else if (form?.fields.has('email') === true) {
      response = await browser.post(form.action, { ...form.hidden, email: credentials.email })
    } else if (form?.fields.has('decision') === true) {
      response = await browser.post(form.action, { ...form.hidden, ...form.choices, decision: 'allow' })
    } else {
      throw new AdminError(
        `The server answered ${response.status} with a page without a known form: ${headingOf(page)}`,
      )
    }
  }
  throw new AdminError('Redirect loop in the sign-in pages.')
}

interface Browser {
  readonly get: (url: string) => Promise<Response>
  readonly post: (url: string, form: Readonly<Record<string, string>>) => Promise<Response>
}

/** Stores cookies by origin, and follows no redirects. */
function openBrowser(): Browser {
  const jars = new Map<string, Map<string, string>>()
  async function load(url: string, init: RequestInit): Promise<Response> {
    const jar = jars.get(new URL(url).origin) ?? new Map<string, string>()
    jars.set(new URL(url).origin, jar)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { ...(cookie === '' ? {} : { cookie }), 'sec-fetch-site': 'same-origin' }
    const response = await fetch(url, {
      ...init,
      headers,
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (name !== undefined && value !== undefined) jar.set(name, value)
    }
    return response
  }
  return {
    get: (url) => load(url, { method: 'GET' }),
    post: (url, form) => load(url, { method: 'POST', body: new URLSearchParams(form) }),
  }
}

interface Form {
  readonly action: string
  readonly hidden: Readonly<Record<string, string>>
  readonly fields: ReadonlySet<string>
  /** The selected option of each picker, or by default its last option: no organization. */
  readonly choices: Readonly<Record<string, string>>
}

/**
 * The form of the page that signs in or consents. The sign-in page has another form for each provider. Controls outside of the
 * forms belong to it; attributes are quoted.
 */
function readForm(whole: string, address: string): Form | undefined {
  const isWanted = (form: string) => / name="(?:email|password|decision)"/.test(form)
  const page = whole.replaceAll(/<form[^>]*>[^]*?<\/form>/g, (form) => (isWanted(form) ? form : ''))
  const tag = /<form[^>]*>/.exec(page)?.[0]
  if (tag === undefined) return undefined
  const controls = page.match(/<(?:input|button)[^>]*>/g) ?? []
  // Boxes are checked at first, and stay so.
  const hidden = controls.filter((control) => ['hidden', 'checkbox'].includes(attribute(control, 'type')))
  return {
    action: new URL(attribute(tag, 'action'), address).href,
    hidden: Object.fromEntries(hidden.map((control) => [attribute(control, 'name'), attribute(control, 'value')])),
    fields: new Set(controls.map((control) => attribute(control, 'name'))),
    choices: Object.fromEntries(page.match(/<select[^>]*>[^]*?<\/select>/g)?.map(readPicker) ?? []),
  }
}

function readPicker(picker: string): readonly [name: string, value: string] {
  const options = picker.match(/<option[^>]*>/g) ?? []
  const selected = options.find((option) => / selected[\s>]/.test(option)) ?? options.at(-1) ?? ''
  return [attribute(picker, 'name'), attribute(selected, 'value')]
}

function attribute(tag: string, name: string): string {
  return unescape(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? '')
}

function headingOf(page: string): string {
  const words = /<main>([\s\S]*?)<\/main>/
    .exec(page)?.[1]
    ?.replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return unescape(words ?? 'no text').slice(0, DISPLAY_TEXT_LIMIT)
}

/** Characters of a page in a message. */
const DISPLAY_TEXT_LIMIT = 400

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', quot: '"', '#39': "'", lt: '<', gt: '>' }

function unescape(text: string): string {
  return text.replaceAll(/&(amp|quot|#39|lt|gt);/g, (whole, name: string) => ENTITIES[name] ?? whole)
}
