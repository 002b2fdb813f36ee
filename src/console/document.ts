import type { Administrator } from '../admin/task.ts'
import type { Branding } from '../ports/pages/pages.ts'
import { initial } from '../web/pictures.ts'
import { href, html, isolate, type Fragment, type Markup } from '../web/markup.ts'
import { menuIcon, searchIcon } from './icons.ts'
import { hidden } from './engine/buttons.ts'
import { copyButton, initials } from './parts.ts'
import type { Section } from './screen.ts'
import type { OneOrganization } from './engine/form.ts'
import { groupsOf, type SectionRow } from './sections.ts'

/** The addresses of the files that all pages load. Each has the hash of its content in its name. */
export interface Assets {
  readonly style: string
  readonly script: string
  /** The picture of the operator; undefined: the first letter of the name. */
  readonly logo: string | undefined
}

/** The person at the console. */
export interface Person {
  readonly name: string
  readonly email: string | null
  readonly access: Administrator['access']
  /** What the person may open, in the order of the side. The first one is where the person begins. */
  readonly sections: readonly SectionRow[]
  /** The one that the role is for; undefined: the whole server. */
  readonly organization: OneOrganization | undefined
  /** Of the form that signs out. */
  readonly csrf: string
}

export interface Document {
  readonly branding: Branding
  readonly assets: Assets
  readonly accountUri: string
  readonly title: string
  readonly main: Fragment
  /** undefined: no user with a role is signed in, so there is no side and no menu. */
  readonly person: Person | undefined
  readonly section: Section | undefined
  /** The address to which the browser goes at once. */
  readonly refresh?: string | undefined
}

/** A whole document of the console. */
export function document(page: Document): string {
  const { branding, assets, title, person, refresh } = page
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        ${refresh === undefined ? undefined : html`<meta http-equiv="refresh" content="0; url=${href(refresh)}" />`}
        <title>${title} · ${branding.name}</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="${assets.style}" />
        <script src="${assets.script}" defer></script>
      </head>
      <body>
        ${person === undefined ? plain(page) : framed(page, person)}
      </body>
    </html>`.toString()
}

/** Without a side: to say something to a person who is not signed in, or has no role. */
function plain({ branding, assets, main }: Document): Markup {
  return html`<div class="card">
    <header><p class="brand">${mark(branding, assets)}${isolate(branding.name)}</p></header>
    <main>${main}</main>
  </div>`
}

function framed({ branding, assets, accountUri, main, section }: Document, person: Person): Markup {
  const { organization, sections } = person
  return html`<a class="skip" href="#main">Skip to the content</a>
    <div class="frame">
      <header class="side">
        <p class="brand">${mark(branding, assets)}${isolate(branding.name)}</p>
        <details class="menu"><summary aria-label="Menu">${menuIcon}</summary></details>
        <div class="places">
          ${organization === undefined ? undefined : html`<p class="muted"><bdi>${organization.name}</bdi></p>`}
          ${navigation(sections, section)} ${account(person, accountUri)}
        </div>
      </header>
      <div class="page">
        <div class="top">
          <form method="get" action="/console/search" role="search" class="search">
            ${searchIcon}
            <input
              name="q"
              type="search"
              aria-label="Search"
              placeholder="${organization === undefined ? 'Search: name, address, host, scope, id' : 'Search: name, address, id'}"
              autocomplete="off"
              spellcheck="false"
              data-search
            />
            ${section === undefined ? undefined : hidden('in', section)}
            <kbd data-key hidden>/</kbd>
          </form>
        </div>
        <main id="main" tabindex="-1">${main}</main>
      </div>
    </div>
    <template>${copyButton('')}</template>
    <dialog data-help>
      <h2>Shortcuts</h2>
      <dl class="facts">
        <div>
          <dt><kbd>/</kbd></dt>
          <dd>Search</dd>
        </div>
        <div>
          <dt><kbd>j</kbd> <kbd>k</kbd></dt>
          <dd>Next and previous row</dd>
        </div>
        <div>
          <dt><kbd>x</kbd></dt>
          <dd>Choose the row</dd>
        </div>
        <div>
          <dt><kbd>b</kbd></dt>
          <dd>To the buttons for the chosen rows</dd>
        </div>
        <div>
          <dt><kbd>Enter</kbd></dt>
          <dd>Open the row</dd>
        </div>
        <div>
          <dt><kbd>?</kbd></dt>
          <dd>These shortcuts</dd>
        </div>
      </dl>
      <p>
        <label class="field flag"><input type="checkbox" data-keys-switch /> Use these shortcuts</label>
      </p>
      <form method="dialog"><button class="button">Close</button></form>
    </dialog>`
}

/** In a narrow window the stylesheet shows it while the menu before it is open. */
function navigation(sections: readonly SectionRow[], current: Section | undefined): Markup {
  const entry = ({ section, label, path, icon, key, also = [] }: SectionRow): Markup => {
    const isHere =
      current !== undefined && [section, ...also].includes(current) ? html` aria-current="page"` : undefined
    return html`<li><a href="${path}" data-go="${key}" ${isHere}>${icon}${label}</a></li>`
  }
  return html`<nav aria-label="Screens">
    ${groupsOf(sections).map(
      ([heading, rows]) =>
        html`${heading === undefined ? undefined : html`<p class="group">${heading}</p>`}
          <ul role="list" ${heading === undefined ? undefined : html` aria-label="${heading}"`}>
            ${rows.map(entry)}
          </ul>`,
    )}
  </nav>`
}

function account({ name, email, access, organization, csrf }: Person, accountUri: string): Markup {
  const words = ACCESSES[access]
  return html`<details class="me">
    <summary>
      <span class="avatar" aria-hidden="true">${initials(name)}</span>
      <span class="who"><bdi>${name}</bdi><span class="muted">${words?.title}</span></span>
    </summary>
    <div class="sheet">
      ${email === null || email === name ? undefined : html`<p><bdi>${email}</bdi></p>`}
      <p class="muted">
        ${words?.text}${organization === undefined ? undefined : html` of <bdi>${organization.name}</bdi>`}
      </p>
      <a href="${href(accountUri)}">Your account</a>
      <button type="button" data-show-help hidden>Shortcuts</button>
      <form method="post" action="/console/sign-out">
        ${hidden('csrf', csrf)}<button type="submit">Sign out</button>
      </form>
    </div>
  </details>`
}

/** What the person may do, at the foot of the side. */
const ACCESSES: Partial<Record<Person['access'], { readonly title: string; readonly text: string }>> = {
  read: { title: 'Read', text: 'May read, and change nothing' },
  support: { title: 'Support', text: 'May help users' },
  users: { title: 'Users', text: 'May help, change and delete users without a role' },
  write: { title: 'Write', text: 'May change everything' },
}

function mark(branding: Branding, { logo }: Assets): Markup {
  return logo === undefined
    ? html`<span class="mark" aria-hidden="true">${initial(branding.name)}</span>`
    : html`<img class="logo" src="${logo}" alt="" />`
}
