import type { AuditEntryDocument } from '../../admin/audit/tasks.ts'
import type { GrantDocument } from '../../admin/grant.ts'
import type { SessionDocument } from '../../admin/session.ts'
import type { PasskeyDocument } from '../../admin/user/sign-in.ts'
import type { WholeUserDocument } from '../../admin/user/tasks.ts'
import { forShell } from '../../base/shell.ts'
import { callUser, nameUser } from '../../protocol/sign-in/account.ts'
import { code, html, type Fragment, type Markup } from '../../web/markup.ts'
import { events, EVENTS_SHOWN } from './audit.ts'
import { grantColumns, namesOf } from './grants.ts'
import { ONE_USER_FORMS } from './user-forms.ts'
import { userState } from './users.ts'
import { linkTo, listAddress } from '../links.ts'
import { actions, formOf, formsFor } from '../engine/buttons.ts'
import { table } from '../list.ts'
import { chip, command, exactTime, facts, id, name, networkOf, section, time } from '../parts.ts'
import { screen } from '../screen.ts'
import type { Form, Frame, Texts } from '../engine/form.ts'

interface Answers {
  readonly user: WholeUserDocument
  readonly sessions: { readonly sessions: readonly SessionDocument[]; readonly next: string | null }
  readonly grants: { readonly grants: readonly GrantDocument[]; readonly names: Texts; readonly next: string | null }
  readonly audit: {
    readonly events: readonly AuditEntryDocument[]
    readonly names: Texts
    readonly next: string | null
  }
}

const ROWS_SHOWN = 20

/** What is beside the fact that it changes. */
const IN_FACTS: readonly string[] = ['user.set-email', 'user.update', 'role.set', 'role.remove']

export const USER = screen<Answers>({
  path: '/console/users/{user_id}',
  section: 'users',
  reads: {
    user: { task: 'user.show', input: () => ({}) },
    sessions: {
      task: 'session.list',
      input: ({ parameters }) => ({ user_id: parameters['user_id'], limit: ROWS_SHOWN }),
    },
    grants: { task: 'grant.list', input: ({ parameters }) => ({ user_id: parameters['user_id'], limit: ROWS_SHOWN }) },
    audit: { task: 'audit.list', input: ({ parameters }) => ({ user_id: parameters['user_id'], limit: EVENTS_SHOWN }) },
  },
  filters: [],
  forms: ONE_USER_FORMS,
  names({ user, sessions, grants }) {
    const own = nameUser({ ...user, id: user.user_id })
    return {
      ...namesOf(grants.grants, grants.names),
      ...Object.fromEntries(sessions.sessions.map((one) => [one.session_id, `${browserOf(one)} of ${own}`])),
      ...Object.fromEntries(user.passkeys.map((one) => [one.passkey_id, `${browserOf(one)}, of ${own}`])),
      '': own,
    }
  },
  view({ user, sessions, grants, audit }, frame) {
    const fitting = formsFor(frame, user.user_id, user, false)
    const final = formsFor(frame, user.user_id, user, true)
    const own = [...fitting, ...final].filter(({ task }) => IN_FACTS.includes(task))
    const others = (forms: readonly Form[]) => forms.filter((one) => !own.includes(one))
    const beside = (...tasks: readonly string[]) =>
      actions(
        frame,
        own.filter(({ task }) => tasks.includes(task)),
      )
    return {
      title: nameUser({ ...user, id: user.user_id }),
      main: html`<div class="heading">
          <h1>${name(callUser(user) ?? null, '(no address)')}</h1>
          ${isLockedOut(user) ? chip('Locked', 'caution') : userState(user)} ${actions(frame, others(fitting))}
        </div>
        <p class="sub">${id(user.user_id)} <span>created ${time(user.created_at, frame)}</span></p>
        ${facts([
          ['Can sign in', signIn(user, frame)],
          ['Name', row(name(user.name, 'none'), beside('user.update'))],
          ['Address verified', row(time(user.email_verified_at, frame, 'no'), beside('user.set-email'))],
          ['Authenticator app', app(user, frame)],
          ['Passkeys', passkeys(user, frame)],
          ['Providers', identities(user, frame)],
          ['Organizations', organizations(user)],
          ['Role for the console', role(user, frame, beside('role.set', 'role.remove'))],
          [
            'Tokens revoked',
            user.not_before === user.created_at ? undefined : html`all from before ${time(user.not_before, frame)}`,
          ],
        ])}
        ${section('Sessions', sessionTable(frame, sessions.sessions))}
        ${section('Grants', grantTable(frame, grants), grants.next === null ? undefined : html`<a href="${listAddress('grants', 'user_id', user.user_id)}">All</a>`)}
        ${section('Events', events(frame, audit, 'Nothing has happened with this account lately.'), html`<a href="${listAddress('audit', 'user_id', user.user_id)}">All</a>`)}
        ${others(final).length === 0 ? undefined : html`<div class="danger-zone">${actions(frame, others(final))}</div>`}`,
    }
  },
})

type Obstacle = WholeUserDocument['sign_in']['obstacles'][number]

/** Whether wrong passwords or codes keep the user out for now. */
function isLockedOut({ sign_in: { obstacles } }: WholeUserDocument): boolean {
  return obstacles.some(({ wrong_attempts: attempts }) => attempts !== null)
}

/** The answer to the most frequent question of support: why can this person not sign in? */
function signIn({ sign_in: { ways, second_step: second, obstacles }, link }: WholeUserDocument, frame: Frame): Markup {
  const isNoPassword = obstacles.some(({ reason }) => reason === 'too-many-passwords')
  const working = ways.filter((way) => !(isNoPassword && way === 'password'))
  const others = obstacles.filter(
    ({ reason, wrong_attempts: attempts }) => attempts === null && (link === null || reason !== 'no-way'),
  )
  return html`${obstacles.filter(({ wrong_attempts: attempts }) => attempts !== null).map((one) => html`<p>${lock(one, frame)}</p>`)}
  ${
    working.length === 0
      ? ways.length === 0
        ? html`<p>${isUnconnected(obstacles) ? chip('Not yet', 'caution') : chip('Not at all', 'bad')}</p>`
        : undefined
      : html`<p>
          ${chip('Yes', isNoPassword ? 'caution' : 'good')} <span class="muted">by</span> ${working.join(', ')}
          ${second === null ? undefined : html`<span class="muted">second step:</span> ${second.includes('set-up') ? 'the next sign-in sets it up' : second.join(', ')}`}
        </p>`
  }
  ${link === null ? undefined : html`<p>A link is open until ${exactTime(link.expires_at)}.</p>`}
  ${
    others.length === 0
      ? undefined
      : html`<ul>
          ${others.map(({ message }) => html`<li>${message}</li>`)}
        </ul>`
  }`
}

/** Whether the first sign-in at the provider that the address requires, or a link, is all that the account lacks. */
function isUnconnected(obstacles: readonly Obstacle[]): boolean {
  const reasons = obstacles.map(({ reason }) => reason)
  return reasons.includes('not-connected') && !reasons.includes('disabled') && !reasons.includes('provider-disabled')
}

/** A lock, with its end: it does not keep out browsers in which the user signed in before. */
function lock({ reason, wrong_attempts: attempts, until }: Obstacle, { place }: Frame): Markup {
  const what = reason === 'too-many-passwords' ? 'wrong passwords' : 'wrong codes'
  const minutes = until === null ? 0 : Math.max(1, Math.ceil((Date.parse(until) - place.now) / 60_000))
  const duration =
    until === null ? '' : ` for ${minutes} more ${minutes === 1 ? 'minute' : 'minutes'} (until ${exactTime(until)})`
  return html`${chip('Locked', 'caution')}${duration}: ${String(attempts)} ${what}. Browsers that it used before still
  work.`
}

function browserOf({ browser, system }: Pick<SessionDocument, 'browser' | 'system'>): string {
  return [browser ?? 'unknown browser', ...(system === null ? [] : [system])].join(', ')
}

/** The own role is changed by another person, or by the command line. */
function role({ role: held, user_id }: WholeUserDocument, { self, mayWrite }: Frame, forms: Fragment): Fragment {
  const access =
    held === null
      ? html`<span class="muted">none</span>`
      : html`${held.access}${held.organization_id === null ? undefined : html`, for ${id(held.organization_id, linkTo('organizations', held.organization_id))}`}${held.loopback_only ? ', while the issuer is a loopback address' : undefined}`
  if (mayWrite && user_id !== self) return row(access, forms)
  const to = held?.access === 'read' ? 'write' : 'read'
  return html`${access} ${command(`grantor role set ${forShell(user_id)} --access ${forShell(to)}`)}`
}

/** A fact, and what changes it. */
function row(fact: Fragment, forms: Fragment): Markup {
  return html`<span class="row"><span>${fact}</span> ${forms}</span>`
}

function app({ authenticator_app: factor }: WholeUserDocument, frame: Frame): Fragment {
  if (factor === null) return html`<span class="muted">none</span>`
  const { added_at: added, used_at: used, recovery_codes: codes, is_locked: isLocked } = factor
  return html`added ${time(added, frame)}, used ${time(used, frame)}, ${codes} recovery codes left
  ${isLocked ? chip('Locked', 'bad') : undefined}`
}

function passkeys({ passkeys: all }: WholeUserDocument, frame: Frame): Fragment {
  if (all.length === 0) return html`<span class="muted">none</span>`
  return html`<ul>
    ${all.map((one) => html`<li>${passkey(one, frame)}</li>`)}
  </ul>`
}

function passkey(
  { passkey_id: key, is_synced: isSynced, added_at: added, used_at: used, ...made }: PasskeyDocument,
  frame: Frame,
): Markup {
  return html`<span class="row"
    ><span
      ><bdi>${browserOf(made)}</bdi>${isSynced ? ', synced' : undefined}, added ${time(added, frame)}, used
      ${time(used, frame)}</span
    >
    ${actions(frame, formOf(frame, 'user.remove-passkey'), key)}</span
  >`
}

function identities({ identities: all }: WholeUserDocument, frame: Frame): Fragment {
  if (all.length === 0) return html`<span class="muted">none</span>`
  return html`<ul>
    ${all.map(({ provider_id: provider, subject, email, used_at: used }) => html`<li>${code(provider)} ${name(email ?? subject, '–')} <span class="muted">used</span> ${time(used, frame)}</li>`)}
  </ul>`
}

function organizations({ organizations: all }: WholeUserDocument): Fragment {
  if (all.length === 0) return html`<span class="muted">none</span>`
  return html`<ul>
    ${all.map(
      ({ organization_id: one, name: called, disabled_at: disabled }) =>
        html`<li>
          <a href="${linkTo('organizations', one)}/members">${name(called, '(no name)')}</a>
          ${disabled === null ? undefined : chip('Disabled', 'bad')}
        </li>`,
    )}
  </ul>`
}

/** How a user authenticated (RFC 8176), in words. */
const METHODS: Readonly<Record<string, string>> = {
  pwd: 'password',
  fed: 'provider',
  otp: 'app',
  pop: 'passkey',
  mfa: 'two factors',
}

function sessionTable(frame: Frame, rows: readonly SessionDocument[]): Markup {
  const end = formOf(frame, 'session.end')
  return table(frame, {
    caption: 'Browsers in which the user is signed in, newest first',
    rows,
    empty: html`<p>The user is signed in nowhere.</p>`,
    columns: [
      {
        heading: 'Browser',
        cell: (session) => html`<bdi>${browserOf(session)}</bdi>`,
      },
      {
        heading: 'By',
        cell: ({ methods, provider_id: provider }) =>
          html`${methods.map((method) => METHODS[method] ?? method).join(', ')}${provider === null ? undefined : html` <span class="muted">at ${provider}</span>`}`,
      },
      {
        heading: 'Network',
        isWide: true,
        cell: ({ network }) => (network === null ? html`<span class="muted none">–</span>` : code(networkOf(network))),
      },
      { heading: 'Signed in', cell: ({ started_at: at }) => time(at, frame) },
      { heading: 'Seen', cell: ({ seen_at: at }) => time(at, frame) },
      ...(end.length === 0
        ? []
        : [
            {
              heading: 'Action',
              isAction: true as const,
              cell: ({ session_id: session }: SessionDocument) => actions(frame, end, session),
            },
          ]),
    ],
  })
}

function grantTable(frame: Frame, { grants, names }: Answers['grants']): Markup {
  return table(frame, {
    caption: 'Grants of the user, newest first',
    rows: grants,
    empty: html`<p>The user has allowed no client anything.</p>`,
    columns: grantColumns(frame, names, 'user'),
  })
}
