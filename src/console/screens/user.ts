import type { GrantDocument } from '../../admin/grant.ts'
import type { ListedGroupDocument } from '../../admin/group/tasks.ts'
import type { SessionDocument } from '../../admin/session.ts'
import type { WholeUserDocument } from '../../admin/user/tasks.ts'
import { nameUser } from '../../protocol/sign-in/account.ts'
import { html, isolate, type Markup } from '../../web/markup.ts'
import { questionAbout } from './access/question.ts'
import { grantItem, groupedGrants, namesOf } from './grants.ts'
import { accountOf } from './user-account.ts'
import { answerOf, browserOf, isLockedOut, stateOf } from './user-answer.ts'
import { ONE_USER_FORMS } from './user-forms.ts'
import { actions, buttonsWithMore, formOf, formsFor } from '../engine/buttons.ts'
import { feed, type ListedEvents } from '../feed.ts'
import { clientsIcon, outIcon } from '../icons.ts'
import { linkTo, listAddress } from '../links.ts'
import { capitalOf, copyButton, dotted, initials, name, named, networkOf, section, time } from '../parts.ts'
import { screen } from '../screen.ts'
import { labelFor, type Frame, type Texts } from '../engine/form.ts'

interface Answers {
  readonly user: WholeUserDocument
  readonly sessions: { readonly sessions: readonly SessionDocument[]; readonly next: string | null }
  readonly grants: { readonly grants: readonly GrantDocument[]; readonly names: Texts; readonly next: string | null }
  readonly audit: ListedEvents
  readonly groups: { readonly groups: readonly ListedGroupDocument[] }
}

const ROWS_SHOWN = 20
/** Grants that are counted by client. */
const GRANTS_READ = 100

export const USER = screen<Answers>({
  path: '/console/users/{user_id}',
  section: 'users',
  reads: {
    user: { task: 'user.show', input: () => ({}) },
    sessions: {
      task: 'session.list',
      input: ({ parameters }) => ({ user_id: parameters['user_id'], limit: ROWS_SHOWN }),
    },
    grants: { task: 'grant.list', input: ({ parameters }) => ({ user_id: parameters['user_id'], limit: GRANTS_READ }) },
    audit: { task: 'user.list-events', input: () => ({ limit: ROWS_SHOWN }) },
    groups: { task: 'group.list', input: ({ parameters }) => ({ user_id: parameters['user_id'] }) },
  },
  filters: [],
  forms: ONE_USER_FORMS,
  reach: ({ user }) => user.reach,
  names({ user, sessions, grants }) {
    const own = nameUser({ ...user, id: user.user_id })
    return {
      ...namesOf(grants.grants, grants.names),
      ...Object.fromEntries(sessions.sessions.map((one) => [one.session_id, `${browserOf(one)} of ${own}`])),
      ...Object.fromEntries(user.passkeys.map((one) => [one.passkey_id, `${browserOf(one)}, of ${own}`])),
      '': own,
    }
  },
  view(answers, frame) {
    const { user, sessions, grants, audit, groups } = answers
    const own = nameUser({ ...user, id: user.user_id })
    const all = html`<a href="${linkTo('users', user.user_id)}/activity">All activity</a>`
    return {
      title: own,
      main: html`${heading(answers, frame)} ${unreached(frame)}
        <div class="split">
          <div>
            ${answerOf(user, { sessions: sessions.sessions, events: audit.events }, frame)}
            ${section('Activity', feed(frame, audit, { own: user.user_id, none: 'Nothing has happened with this account lately.' }), all)}
            ${signedIn(frame, sessions)} ${appsAllowed(frame, user, grants)}
          </div>
          <div>${accountOf(user, groups.groups, frame)} ${questionAbout(frame, { user_id: user.user_id })}</div>
        </div>`,
    }
  },
})

/** A name that looks like the address of another person is no heading (threats.md CON-36). */
function headingName({ name: text, email, user_id: userId }: WholeUserDocument): string {
  const isName = text !== null && text.trim() !== '' && !text.normalize('NFKC').includes('@')
  return isName ? text : (email ?? userId)
}

function heading(answers: Answers, frame: Frame): Markup {
  const { user } = answers
  const { email, last_signed_in_at: last } = user
  const title = headingName(user)
  return html`<div class="heading">
    <span class="avatar" aria-hidden="true">${initials(title)}</span>
    <div>
      <h1>${name(title, '(no name)')} ${stateOf(user, frame)}</h1>
      <p class="sub">
        ${email === null ? html`<span>no address</span>` : html`<span>${isolate(email)} ${copyButton(email)}</span>`}
        ${last === null ? undefined : html`<span>last sign-in ${time(last, frame)}</span>`}
      </p>
    </div>
    ${buttons(answers, frame)}
  </div>`
}

/** Why a person who may change other accounts is offered nothing here. */
function unreached({ isCut, outOfReach }: Frame): Markup | undefined {
  return isCut ? html`<p class="notice quiet">${outOfReach}</p>` : undefined
}

/** Tasks that end something and can be undone. */
const ENDING: readonly string[] = ['user.end-sessions', 'user.disable']

/** The buttons that the state of the account asks for, and the others on demand. */
function buttons(answers: Answers, frame: Frame): Markup | undefined {
  const { user, sessions } = answers
  const isSignedIn = sessions.sessions.length > 0
  const forms = [false, true]
    .flatMap((isFinal) => formsFor(frame, user.user_id, user, isFinal))
    .filter(({ task }) => !task.endsWith('-link') || (user.email !== null && user.disabled_at === null))
    .filter(({ task }) => task !== 'user.end-sessions' || isSignedIn)
  const link = forms.some(({ task }) => task === 'user.send-link') ? 'user.send-link' : 'user.create-link'
  const first =
    user.disabled_at !== null
      ? ['user.enable']
      : [...(isLockedOut(user) ? ['user.unlock'] : []), link, ...(isSignedIn ? ['user.end-sessions'] : [])]
  const lead = first.flatMap((task) => forms.filter((form) => form.task === task))
  const rest = forms.filter((form) => !lead.includes(form))
  return buttonsWithMore(frame, {
    lead,
    main: lead[0],
    rest,
    ending: ENDING,
    labelOf: (form) =>
      form.task === 'user.create-link' && link === form.task ? undefined : labelFor(form, { ...answers }),
  })
}

/** How a user authenticated (RFC 8176), in words. */
const METHODS: Readonly<Record<string, string>> = {
  pwd: 'password',
  fed: 'provider',
  otp: 'app',
  pop: 'passkey',
  mfa: 'two factors',
}

function signedIn(frame: Frame, { sessions, next }: Answers['sessions']): Markup {
  const end = formOf(frame, 'session.end')
  const count = `${sessions.length}${next === null ? '' : ' or more'} ${sessions.length === 1 ? 'browser' : 'browsers'}`
  if (sessions.length === 0)
    return section('Signed in', html`<div class="empty"><p>The user is signed in nowhere.</p></div>`)
  return section(
    html`Signed in <span class="count">${count}</span>`,
    html`<ul class="feed" role="list">
      ${sessions.map(
        ({ methods, provider_id: provider, network, session_id: session, seen_at: at, started_at: since, ...made }) =>
          html`<li data-row>
            ${outIcon}
            <p>${isolate(capitalOf(browserOf(made)))}</p>
            <span class="when">seen ${time(at, frame)}</span>
            <div class="meta">
              <span
                >${dotted([
                  network === null ? undefined : html`${networkOf(network)}`,
                  html`by
                  ${methods.map((method) => METHODS[method] ?? method).join(', ')}${provider === null ? undefined : html` at ${isolate(provider)}`}`,
                  html`since ${time(since, frame)}`,
                ])}</span
              >
              ${actions(frame, end, session)}
            </div>
          </li>`,
      )}
    </ul>`,
  )
}

/** Each sign-in to an app can be a grant: the app is one row, and its button ends up to 50 of them. */
function appsAllowed(frame: Frame, user: WholeUserDocument, { grants, names, next }: Answers['grants']): Markup {
  const apps = groupedGrants(grants, ({ client_id: client }) => client)
  const all = html`<a href="${listAddress('grants', 'user_id', user.user_id)}">All grants</a>`
  if (apps.length === 0)
    return section(
      'Apps allowed',
      html`<div class="empty"><p>No app may do anything for the user.</p></div>`,
      grants.length === 0 ? undefined : all,
    )
  return section(
    html`Apps allowed <span class="count">${apps.length}${next === null ? '' : ' or more'}</span>`,
    html`<ul class="feed" role="list">
      ${apps.map((app) =>
        grantItem(
          frame,
          app,
          names,
          html`${clientsIcon}
            <p>${named(frame, 'clients', app.of, names)}</p>`,
        ),
      )}
    </ul>`,
    all,
  )
}
