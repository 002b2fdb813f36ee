import type { ClientDocument } from '../../admin/client/document.ts'
import type { OrganizationDocument } from '../../admin/organization/organization.ts'
import type { TokenInspection } from '../../admin/token.ts'
import type { WholeUserDocument } from '../../admin/user/tasks.ts'
import { callUser } from '../../protocol/sign-in/account.ts'
import { listedNameOf } from '../../protocol/client/identity.ts'
import { html, type Fragment, type Markup } from '../../web/markup.ts'
import { linkTo } from '../links.ts'
import { formOf, hidden } from '../engine/buttons.ts'
import { chip, facts, id, name, scopes, time } from '../parts.ts'
import { screen } from '../screen.ts'
import { formWords, type Form, type Frame, type Members, type Named, type View } from '../engine/form.ts'
import { MAXIMA } from '../../base/maxima.ts'

const TITLE = 'What is this token?'

const REVOKE: Form = {
  kind: 'create',
  task: 'token.revoke',
  fields: ['token', 'family'],
}

const INSPECT: Form = {
  kind: 'report',
  task: 'token.inspect',
  fields: ['token'],
  shows: {
    reads: namedBy,
    view: (answer, more, frame) => inspected(answer as unknown as TokenInspection, more, frame),
  },
}

/** Whose a token is, and why it does not work. Its text is in a form and in its answer, and nowhere else. */
export const TOKEN = screen<object>({
  path: '/console/token',
  section: 'token',
  reads: {},
  filters: [],
  forms: [INSPECT, REVOKE],
  names: () => ({}),
  view: (_, frame) => ({
    title: TITLE,
    main: html`<div class="heading"><h1>${TITLE}</h1></div>
      <p>Whose it is, what it may do, and why it does not work. The text is sent to this server, and kept nowhere.</p>
      ${question(frame)}`,
  }),
})

function question(frame: Frame): Markup | undefined {
  if (formOf(frame, INSPECT.task).length === 0) return undefined
  return html`<form method="post" action="${frame.place.path}" class="ask">
    ${hidden('csrf', frame.csrf)} ${hidden('task', INSPECT.task)} ${hidden('asked', '1')}
    <label class="field"
      ><span>Access token or refresh token</span
      ><input
        type="text"
        name="token"
        maxlength="${MAXIMA.accessToken.most}"
        autocomplete="off"
        spellcheck="false"
        required
    /></label>
    <div class="actions"><button type="submit" class="button main">${formWords(INSPECT).label}</button></div>
  </form>`
}

/** What the token names, for the names. */
function namedBy(answer: Members): Readonly<Record<string, Named>> {
  const one = (noun: string) => {
    const member = `${noun}_id`
    return typeof answer[member] === 'string'
      ? { [noun]: { task: `${noun}.show`, input: { [member]: answer[member] } } }
      : {}
  }
  return { ...one('client'), ...one('user'), ...one('organization') }
}

function inspected(answer: TokenInspection, more: Members, frame: Frame): View {
  return {
    title: TITLE,
    main: html`<div class="result">
        <div class="heading">
          <h1>${TITLE}</h1>
          ${stateOf(answer)} ${answer.kind === 'unknown' ? undefined : revocation(frame)}
        </div>
        <p class="sub"><span>${sentence(answer)}</span></p>
        ${answer.kind === 'unknown' ? undefined : belongings(answer, more, frame)}
      </div>
      <section>
        <header><h2>Another one</h2></header>
        ${question(frame)}
      </section>`,
  }
}

/** The text of the token is in no page but the one that asks. */
function revocation(frame: Frame): Fragment {
  if (formOf(frame, REVOKE.task).length === 0) return undefined
  return html`<a class="button danger" href="?ask=${REVOKE.task}">${formWords(REVOKE).label}…</a>`
}

const KINDS = { access: 'an access token', refresh: 'a refresh token' } as const

function stateOf({ kind, active }: TokenInspection): Markup {
  if (kind === 'unknown') return chip('Unknown', 'bad')
  return active ? chip('Active', 'good') : chip('Inactive', 'bad')
}

function sentence({ kind, active, ended_by: reason }: TokenInspection): string {
  if (kind === 'unknown')
    return 'This server did not issue this text as a token, or has deleted what it belonged to. It may be cut off, of another server, or an ID token.'
  if (active) return `This is ${KINDS[kind]}, and it works.`
  return `This is ${KINDS[kind]}, and it does not work: ${reason === null ? 'the server does not say why' : REASONS[reason]}.`
}

/** Why a token is inactive, in words. */
const REASONS: Readonly<Record<NonNullable<TokenInspection['ended_by']>, string>> = {
  expired: 'it expired',
  'not-yet-valid': 'a server whose clock was ahead issued it, so its time has not come',
  revoked: 'it or its grant was revoked',
  held: 'an earlier refresh token was used in another network, or was too old',
  replaced: 'the client got a newer one in exchange for it',
  client: 'the client is disabled or deleted, or all of its tokens were revoked',
  server: 'all tokens of the server were revoked',
  user: 'the user is disabled or deleted, or all tokens of the user were revoked',
  organization: 'the organization is disabled or deleted, or all of its tokens were revoked',
  membership: 'the user is no member of the organization, or the membership is disabled',
  'access-rule': 'an access rule leaves nothing of it for its user',
  installation: 'the client is not installed in the organization, or the installation is disabled',
}

interface Known {
  readonly client?: ClientDocument | undefined
  readonly user?: WholeUserDocument | undefined
  readonly organization?: OrganizationDocument | undefined
}

function belongings(answer: TokenInspection, more: Members, frame: Frame): Markup {
  const { client, user, organization } = more as Known
  const { client_id: clientId, user_id: userId, organization_id: organizationId, grant_id: grantId } = answer
  return facts([
    [
      'Client',
      clientId === null
        ? undefined
        : withName(clientId, client && listedNameOf(client), client && linkTo('clients', clientId)),
    ],
    [
      'User',
      userId === null
        ? html`<span class="muted">none: the client acts for itself</span>`
        : withName(userId, user && callUser(user), user && linkTo('users', userId)),
    ],
    [
      'Organization',
      organizationId === null
        ? undefined
        : withName(organizationId, organization?.name, organization && linkTo('organizations', organizationId)),
    ],
    ['Grant', grantId === null ? undefined : id(grantId, linkTo('grants', grantId))],
    ['Scopes', scopes(answer.scope ?? '')],
    [
      'APIs',
      answer.resources.length === 0 ? html`<span class="muted">this server</span>` : answer.resources.join(', '),
    ],
    ['Exchanged by', answer.actors.length === 0 ? undefined : answer.actors.join(', ')],
    ['Token id', answer.token_id === null ? undefined : id(answer.token_id)],
    ['Issued', answer.issued_at === null ? undefined : time(answer.issued_at, frame)],
    ['Expires', answer.expires_at === null ? undefined : time(answer.expires_at, frame)],
  ])
}

/** `to`: undefined for what is gone. */
function withName(object: string, called: string | null | undefined, to: string | undefined): Markup {
  if (to === undefined) return html`${called === undefined ? undefined : name(called, '(no name)')} ${id(object)}`
  return html`<a href="${to}">${name(called, '(no name)')}</a> ${id(object)}`
}
