import { EMAIL, formAction, formWith, hiddenFields, PASSWORD } from './flow.ts'
import { openCookieJar } from './cookie-jar.ts'

/** A user at a browser without scripts: cookies, forms and redirects over real HTTP. */
export interface Person {
  /** Follows a client's link, signs in if asked, and consents. Returns the URL to which the browser is redirected at the end. */
  readonly allow: (link: string | URL) => Promise<URL>
  readonly deny: (link: string | URL) => Promise<URL>
  /** The page that the browser shows for a link, after the server's own redirects. */
  readonly visit: (link: string | URL) => Promise<Shown>
  /** Sends the form of a page that has these fields, with its hidden fields. */
  readonly submit: (page: Shown, fields: Readonly<Record<string, string>>) => Promise<Shown>
  readonly signOut: () => Promise<Shown>
}

/** A page, or a redirect that leaves the server. */
export interface Shown {
  readonly url: URL
  readonly status: number
  readonly body: string
}

const REDIRECT_LIMIT = 10

export function openPerson(issuer: string): Person {
  const cookies = openCookieJar()

  async function request(url: URL, form: Readonly<Record<string, string>> | undefined): Promise<Response> {
    const response = await fetch(url, {
      method: form === undefined ? 'GET' : 'POST',
      redirect: 'manual',
      headers: { accept: 'text/html', cookie: cookies.header() },
      ...(form === undefined ? {} : { body: new URLSearchParams(form) }),
    })
    return cookies.keep(response)
  }

  async function go(start: URL, form?: Readonly<Record<string, string>>): Promise<Shown> {
    let url = start
    let response = await request(url, form)
    for (let step = 0; step < REDIRECT_LIMIT; step++) {
      const location = response.headers.get('location')
      const body = await response.text()
      if (location === null) return { url, status: response.status, body }
      url = new URL(location, url)
      if (url.origin !== new URL(issuer).origin) return { url, status: response.status, body }
      response = await request(url, undefined)
    }
    throw new Error(`More than ${REDIRECT_LIMIT} redirects, the last to ${url.href}`)
  }

  async function decide(link: string | URL, decision: 'allow' | 'deny'): Promise<URL> {
    let shown = await go(new URL(link))
    if (shown.body.includes('type="password"')) shown = await submit(shown, { email: EMAIL, password: PASSWORD })
    if (shown.body.includes('value="allow"')) shown = await submit(shown, { decision })
    if (shown.url.origin === new URL(issuer).origin)
      throw new Error(`This page leads nowhere (${shown.status}): ${shown.body}`)
    return shown.url
  }

  const submit = (page: Shown, fields: Readonly<Record<string, string>>): Promise<Shown> => {
    const form = { body: formWith(page, Object.keys(fields)) }
    return go(new URL(formAction(form), page.url), { ...hiddenFields(form), ...fields })
  }

  return {
    allow: (link) => decide(link, 'allow'),
    deny: (link) => decide(link, 'deny'),
    visit: (link) => go(new URL(link)),
    submit,
    signOut: async () => submit(await go(new URL('/v2/oauth/sign-out', issuer)), {}),
  }
}
