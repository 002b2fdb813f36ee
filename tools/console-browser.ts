import type { RoleRecord } from '../src/ports/records/role.ts'
import assert from 'node:assert/strict'
import type { Response as Answer } from 'light-my-request'
import type { Context } from '../src/ports/context.ts'
import type { GrantId, OrganizationId, UserId } from '../src/protocol/ids.ts'
import {
  attribute,
  unescaped,
  EMAIL,
  formAction,
  hiddenFields,
  locationOf,
  PASSWORD,
  PlainBrowser,
  type RequestTarget,
} from './flow.ts'

type ConsoleServer = RequestTarget & { readonly injectAdmin: RequestTarget['inject'] }
type RoleServer = { readonly context: Pick<Context, 'clock' | 'store'> }

/** A browser at the console, and at the sign-in pages of its issuer. Both keep their cookies. */
export class ConsoleBrowser {
  readonly issuer: PlainBrowser
  readonly console: PlainBrowser

  constructor(server: ConsoleServer) {
    this.issuer = new PlainBrowser(server)
    this.console = new PlainBrowser({ inject: server.injectAdmin })
  }

  /** Signs in on the way to a path, with more steps where the account has more. Returns the answer of the console. */
  async open(path = '/console/clients', steps: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const leaving = await this.console.get(path)
    if (leadsTo(leaving) === undefined) return leaving
    return this.arrive(await this.comeBack(leaving, steps))
  }

  /** From the page that leads to the sign-in, to the address at which the browser comes back. */
  async comeBack(leaving: Answer, steps: Readonly<Record<string, string>> = {}): Promise<string> {
    let answer = await this.issuer.get(leadsTo(leaving) ?? assert.fail(leaving.body))
    for (let step = 0; step < 6; step += 1) {
      const { location } = answer.headers
      if (location?.includes('/console/callback') === true) return location
      if (location !== undefined) {
        answer = await this.issuer.get(location)
        continue
      }
      // A user without a role is asked for consent.
      const fields = { email: EMAIL, password: PASSWORD, decision: 'allow', ...steps }
      const asked = Object.entries(fields).filter(([name]) => answer.body.includes(`name="${name}"`))
      // A user without a second factor sets none up.
      const cancel = /<form[^>]*\/step-up"[^]*?<\/form>/.exec(answer.body)?.[0]
      if (asked.length === 0 && cancel !== undefined) {
        answer = await this.issuer.submit({ ...answer, body: cancel }, {})
        continue
      }
      assert.ok(asked.length > 0, `No field of this page is known: ${answer.body}`)
      answer = await this.issuer.submit(answer, Object.fromEntries(asked))
    }
    return assert.fail('The sign-in did not come to an end.')
  }

  async arrive(address: string): Promise<Answer> {
    return this.#follow(await this.console.get(address))
  }

  /** Sends the form of a page that has this task, as its button does, and follows the redirect. */
  async press(page: Answer, task: string, fields: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const form = formOf(page, task)
    const sent = { ...hiddenFields({ body: form }), task, ...fields }
    return this.#follow(await this.console.post(formAction({ body: form }), sent))
  }

  /** Sends a form of a page with these rows, which the page need not have, and follows the redirect. */
  async send(
    path: string,
    task: string,
    subjects: readonly string[],
    more: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const page = await this.console.get(path)
    const { csrf = '' } = hiddenFields({ body: formOf(page, task) })
    const form = new URLSearchParams({ csrf, task, ...more })
    for (const subject of subjects) form.append('row', subject)
    return this.#follow(await this.console.post(path, form))
  }

  async #follow(answer: Answer): Promise<Answer> {
    return answer.statusCode === 303 ? this.console.get(locationOf(answer)) : answer
  }
}

/** The form of a page that performs a task. */
export function formOf({ body }: Pick<Answer, 'body'>, task: string): string {
  const forms = body.match(/<form[^]*?<\/form>/g) ?? []
  return forms.find((form) => form.includes(`value="${task}"`)) ?? assert.fail(`No form has ${task}: ${body}`)
}

/** What a browser sends of the fields as they are. */
export function filledIn(asked: Pick<Answer, 'body'>, task: string): Readonly<Record<string, string>> {
  const form = formOf(asked, task)
  const all = (pattern: RegExp): readonly (readonly [string, string])[] =>
    [...form.matchAll(pattern)].map(([, name = '', value, text = '']) => [name, unescaped(value ?? text)])
  const boxes = [...form.matchAll(/<input\s+type="checkbox"\s+name="([^"]+)"(?:\s+value="([^"]*)")?[^>]*\schecked/g)]
  // One text has all boxes of a name, as the server reads them.
  const ticked = Map.groupBy(boxes, ([, name = '']) => name)
  return Object.fromEntries([
    ...[...ticked].map(([name, of]) => [name, of.map(([, , value = 'on']) => value).join(' ')] as const),
    ...all(/<input\s+name="([^"]+)"[^>]*value="([^"]*)"/g),
    ...all(/<input\s+type="radio"\s+name="([^"]+)"\s+value="([^"]*)"\s+checked/g),
    ...all(/<textarea\s+name="([^"]+)"[^>]*>\n?([^<]*)</g),
    ...all(/<select\s+name="([^"]+)"(?:(?!<\/select>)[^])*?<option(?: value="([^"]*)")?\s* selected>([^<]*)</g),
  ])
}

/** Where a page leads by itself. */
export function leadsTo({ body }: Pick<Answer, 'body'>): string | undefined {
  const tag = /<meta http-equiv="refresh"[^>]*>/.exec(body)?.[0]
  return tag === undefined ? undefined : attribute(tag, 'content').replace(/^0; url=/, '')
}

/** A browser in which an administrator whose role may write has opened the console. */
export async function openConsole(server: ConsoleServer & RoleServer): Promise<ConsoleBrowser> {
  await giveRole(server)
  const browser = new ConsoleBrowser(server)
  await browser.open()
  return browser
}

/** Gives a user a role, by default Ada, and returns the id. */
export async function giveRole(
  { context }: RoleServer,
  access: RoleRecord['access'] = 'write',
  email = EMAIL,
  organizationId?: OrganizationId,
): Promise<UserId> {
  const user = await context.store.findUserByEmail(email)
  assert.ok(user)
  const setAt = context.clock()
  await context.store.setRole({ userId: user.id, access, organizationId, isLoopbackOnly: false, setAt })
  return user.id
}

/** The grant that the cookie of a browser names, which is the session of the console. */
export function grantIdIn({ console }: ConsoleBrowser): GrantId {
  const value = [...console.cookies.values()].find((one) => one.includes('.')) ?? ''
  const [id] = JSON.parse(Buffer.from(value.split('.')[0] ?? '', 'base64url').toString()) as [GrantId]
  return id
}
