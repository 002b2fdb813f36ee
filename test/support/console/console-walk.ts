import assert from 'node:assert/strict'
import { openCookieJar } from '../../../tools/cookie-jar.ts'
import { EMAIL, PASSWORD } from '../../../tools/flow.ts'
import { openPerson } from '../../../tools/person.ts'
import { leadsTo } from '../../../tools/console-browser.ts'

/** A browser at the console over real HTTP. */
export interface ConsoleVisitor {
  readonly get: (path: string) => Promise<Response>
  /** Returns the page of the console after the sign-in, which `signIn` leads to the address of the callback. */
  readonly enter: (signIn: (address: string) => Promise<string>) => Promise<Response>
}

/** `console`: where it is, without a path. Each request has a connection of its own, so that any worker may answer it. */
export function openConsoleVisitor(console: string): ConsoleVisitor {
  const cookies = openCookieJar()
  const request = async (url: string): Promise<Response> => {
    const headers = { cookie: cookies.header(), connection: 'close' }
    return cookies.keep(await fetch(url, { redirect: 'manual', headers }))
  }
  return {
    get: (path) => request(console + path),
    async enter(signIn) {
      const leaving = await (await request(`${console}/console`)).text()
      const arrival = await request(await signIn(leadsTo({ body: leaving }) ?? assert.fail(leaving)))
      const location = arrival.headers.get('location')
      return location === null ? arrival : request(console + location)
    },
  }
}

/** Signs Ada in at the pages of an issuer. */
export function signInAt(issuer: string): (address: string) => Promise<string> {
  return async (address) => {
    const person = openPerson(issuer)
    return (await person.submit(await person.visit(address), { email: EMAIL, password: PASSWORD })).url.href
  }
}
