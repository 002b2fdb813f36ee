/** The cookies of a browser at one site. */
export interface CookieJar {
  /** The value of a `Cookie` header. */
  readonly header: () => string
  /** Keeps the cookies that a response sets, and forgets those that it empties. Returns the response. */
  readonly keep: (response: Response) => Response
}

export function openCookieJar(): CookieJar {
  const cookies = new Map<string, string>()
  return {
    header: () => [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
    keep(response) {
      for (const line of response.headers.getSetCookie()) {
        const pair = line.split(';', 1)[0] ?? ''
        const [name, value] = [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]
        if (value === '') cookies.delete(name)
        else cookies.set(name, value)
      }
      return response
    },
  }
}
