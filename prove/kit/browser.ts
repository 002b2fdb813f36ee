import type { Answer, Http } from './http.ts'
import { REDIRECT_URI } from './issuer.ts'

/** A person at a browser without script: cookies, forms and redirects. */
export interface Browser {
  /**
   * Follows a link, signs in, and consents. Returns where the browser is sent outside of the issuer; undefined if a page is shown that goes no
   * further.
   */
  readonly follow: (link: URL) => Promise<URL | undefined>
}

/** A form of a page. */
export interface Form {
  readonly action: string
  /** What a browser sends without the person's doing: hidden fields and checked boxes. */
  readonly sent: Readonly<Record<string, string>>
  /** What a person types into. */
  readonly typed: readonly Field[]
  readonly buttons: readonly Field[]
}

export interface Field {
  readonly type: string
  readonly name: string
  readonly value: string
}

export interface Account {
  readonly name: string
  readonly password: string
}

/** Which fields a person sends of a page; undefined: the page has none to go on with. */
export type FillPage = (forms: readonly Form[], account: Account) => Filled | undefined

export interface Filled {
  readonly form: Form
  readonly fields: Readonly<Record<string, string>>
}

/** Redirects and pages until the person is back at the client. */
const STEP_LIMIT = 20

/** `account` undefined: the browser follows redirects, and shows the first page. */
export function openBrowser(http: Http, origin: string, fill: FillPage, account: Account | undefined): Browser {
  const cookies = new Map<string, string>()

  async function request(url: URL, form: Readonly<Record<string, string>> | undefined): Promise<Answer> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { accept: 'text/html', ...(cookie === '' ? {} : { cookie }) }
    const typed = { ...headers, 'content-type': 'application/x-www-form-urlencoded', origin }
    const answer =
      form === undefined
        ? await http.send({ url, headers })
        : await http.send({ url, headers: typed, body: new URLSearchParams(form).toString() })
    for (const line of answer.headers['set-cookie'] ?? []) keep(line)
    return answer
  }

  function keep(line: string): void {
    const [pair = '', ...attributes] = line.split(';')
    const [name, value] = [pair.slice(0, pair.indexOf('=')).trim(), pair.slice(pair.indexOf('=') + 1).trim()]
    const isGone = value === '' || attributes.some((one) => /^\s*max-age=(0|-.*)$/i.test(one))
    if (isGone) cookies.delete(name)
    else cookies.set(name, value)
  }

  return {
    async follow(link) {
      let [url, form]: [URL, Readonly<Record<string, string>> | undefined] = [link, undefined]
      for (let step = 0; step < STEP_LIMIT; step += 1) {
        const answer = await request(url, form)
        const { location } = answer.headers
        if (location !== undefined && answer.status >= 300 && answer.status < 400) {
          url = new URL(location, url)
          form = undefined
          if (url.origin !== origin || url.href.startsWith(REDIRECT_URI)) return url
          continue
        }
        const filled = account === undefined ? undefined : fill(formsOf(answer.body), account)
        if (filled === undefined) return undefined
        url = new URL(filled.form.action, url)
        if (url.origin !== origin) return undefined
        form = { ...filled.form.sent, ...filled.fields }
      }
      throw new Error(`no way back to the client after ${STEP_LIMIT} pages`)
    },
  }
}

function formsOf(page: string): readonly Form[] {
  return (page.match(/<form\b[^]*?<\/form>/gi) ?? []).map((text) => {
    const fields = (text.match(/<(?:input|button)\b[^>]*>/gi) ?? []).map((tag) => ({
      tag,
      type: attribute(tag, 'type') ?? (/^<button/i.test(tag) ? 'submit' : 'text'),
      name: attribute(tag, 'name') ?? '',
      value: attribute(tag, 'value') ?? '',
    }))
    const sent = fields.filter(
      ({ tag, type }) => type === 'hidden' || (type === 'checkbox' && /\schecked\b/i.test(tag)),
    )
    return {
      action: attribute(/<form[^>]*>/i.exec(text)?.[0] ?? '', 'action') ?? '',
      sent: Object.fromEntries(sent.map(({ name, value }) => [name, value])),
      typed: fields.filter(({ type }) => ['text', 'email', 'password'].includes(type)),
      buttons: fields.filter(({ type }) => type === 'submit'),
    }
  })
}

function attribute(tag: string, name: string): string | undefined {
  const [, quoted, apostrophed] = new RegExp(`\\s${name}=(?:"([^"]*)"|'([^']*)')`, 'i').exec(tag) ?? []
  return (quoted ?? apostrophed)
    ?.replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}
