import type { Language } from '../../base/language.ts'
import type { MailContent, MailModel, OutgoingMail } from '../../ports/mail.ts'
import type { Branding } from '../../ports/pages/pages.ts'
import type { NoticeKind } from '../../ports/records/mail.ts'
import { accentColours } from '../accent.ts'
import { href, html, type Markup } from '../markup.ts'
import { atTime, lasting } from '../spans.ts'
import { mailLanguage } from '../../texts/texts.ts'
import { isPlainTextId, openTranslations, type PlainTextId, type Translation } from '../texts.ts'
import { visible } from '../visible.ts'

/** A part of a mail, below the part before it. */
type Part =
  | { readonly kind: 'heading' | 'text' | 'small'; readonly text: string }
  | { readonly kind: 'facts'; readonly facts: readonly (readonly [name: string, value: string])[] }
  | { readonly kind: 'code'; readonly code: string }
  /** The HTML names the host, so that a person can compare it: the address of a link would take six lines of a phone. */
  | { readonly kind: 'button'; readonly label: string; readonly uri: string }

interface Drawn {
  readonly subject: string
  readonly parts: readonly Part[]
}

/** Returns a mail as plain text and as HTML of the same texts. It loads nothing, and has one link or one code at most. */
export function renderMail(
  branding: Pick<Branding, 'accent' | 'contact' | 'name' | 'texts'>,
  { content, address, language: wanted }: MailModel,
): Pick<OutgoingMail, 'subject' | 'text' | 'html' | 'language'> {
  const language = mailLanguage(wanted, branding.texts)
  const { say } = openTranslations(branding.texts)[language]
  const brand = visible(branding.name)
  const { subject, parts } = draw(content, { say, brand, address: visible(address), language })
  const { contact } = branding
  const labelled = (label: string): string => say('mail.labelled', { label })
  const reachedBy =
    contact === undefined ? '' : ` ${labelled(say('contact'))} ${visible(contact.replace(/^mailto:/, ''))}`
  const all: readonly Part[] = [...parts, { kind: 'small', text: say('mail.automatic', { brand }) + reachedBy }]
  return {
    subject,
    text: `${all.map((part) => plainOf(part, labelled)).join('\n\n')}\n`,
    html: documentOf(branding, subject, language, all, labelled).toString(),
    language,
  }
}

interface Around extends Pick<Translation, 'say'> {
  readonly brand: string
  readonly address: string
  readonly language: Language
}

function draw(content: MailContent, around: Around): Drawn {
  const { say, brand, address, language } = around
  switch (content.kind) {
    case 'invitation': {
      const organization = content.organization === undefined ? undefined : visible(content.organization)
      const [subject, text] =
        organization === undefined
          ? [say('mail.invitationSubject', { brand }), say('mail.invitation', { brand, address })]
          : [
              say('mail.invitationSubjectTo', { organization, brand }),
              say('mail.invitationTo', { organization, brand, address }),
            ]
      return {
        subject,
        parts: [
          { kind: 'text', text },
          { kind: 'button', label: say('mail.invitationButton'), uri: content.link },
          { kind: 'text', text: say('mail.linkValid', { span: lasting(language, content.validSeconds) }) },
          { kind: 'text', text: say('mail.unexpectedInvitation') },
        ],
      }
    }
    case 'reset':
      return {
        subject: say('mail.resetSubject', { brand }),
        parts: [
          { kind: 'text', text: `${say('mail.reset', { brand, address })} ${say('mail.resetConsequence')}` },
          { kind: 'button', label: say('mail.resetButton'), uri: content.link },
          { kind: 'text', text: say('mail.linkValid', { span: lasting(language, content.validSeconds) }) },
          { kind: 'text', text: say('mail.unexpectedReset') },
        ],
      }
    case 'code':
      return {
        subject: say('mail.codeSubject', { brand }),
        parts: [
          { kind: 'text', text: say('mail.code', { brand, address }) },
          { kind: 'code', code: content.code },
          { kind: 'text', text: say('mail.codeValid', { span: lasting(language, content.validSeconds) }) },
          { kind: 'text', text: say('mail.unexpectedCode') },
        ],
      }
    case 'notice':
      return noticeOf(content, around)
    case 'test':
      return {
        subject: say('mail.testSubject', { brand }),
        parts: [{ kind: 'text', text: say('mail.test', { brand }) }],
      }
  }
}

function noticeOf(
  { notice, organization, agent, happenedAt, securityUri }: Extract<MailContent, { readonly kind: 'notice' }>,
  { say, brand, address, language }: Around,
): Drawn {
  const browser = agent === undefined ? undefined : browserOf(say, agent)
  const said =
    organization === undefined
      ? say(`mail.notices.${notice}`)
      : say('mail.joined', { organization: visible(organization) })
  return {
    subject: say('mail.noticeSubject', { brand, notice: said }),
    parts: [
      { kind: 'heading', text: said },
      {
        kind: 'facts',
        facts: [
          [say('mail.account'), `${address} (${brand})`],
          [say('mail.when'), atTime(language, happenedAt)],
          ...(browser === undefined ? [] : [[say('mail.browser'), browser] as const]),
        ],
      },
      // A person who was invited looks for what there is to do.
      ...(notice === 'organization-joined' ? [{ kind: 'text', text: say('mail.haveAccount') } as const] : []),
      // The server noticed this by itself, or it names who did it.
      ...(notice === 'counter-back' || notice === 'two-step-reset'
        ? []
        : [{ kind: 'text', text: say(consequence('wasYou', notice)) } as const]),
      { kind: 'text', text: say(consequence('wasNotYou', notice)) },
      // It goes to the previous address, whose reader may no longer be able to sign in.
      ...(notice === 'email-changed'
        ? []
        : [{ kind: 'button', label: say('mail.securityButton'), uri: securityUri } as const]),
    ],
  }
}

/** The text of its own that a notice has, or the usual one. */
function consequence(group: 'wasYou' | 'wasNotYou', notice: NoticeKind): PlainTextId {
  const own = `mail.${group}.${notice}`
  return isPlainTextId(own) ? own : `mail.${group}.usual`
}

function browserOf(say: Translation['say'], { browser, system }: NonNullable<NoticeAgent>): string {
  return system === undefined ? browser : say('account.agent', { browser, system })
}

type NoticeAgent = Extract<MailContent, { readonly kind: 'notice' }>['agent']

/** The name of what follows, with the colon of the language. */
type Labelled = (label: string) => string

function plainOf(part: Part, labelled: Labelled): string {
  switch (part.kind) {
    case 'heading':
    case 'text':
      return part.text
    case 'small':
      return `-- \n${part.text}`
    case 'facts':
      return part.facts.map(([name, value]) => `${labelled(name)} ${value}`).join('\n')
    case 'code':
      return spaced(part.code)
    case 'button':
      return `${labelled(part.label)}\n${part.uri}`
  }
}

function documentOf(
  { accent, name }: Pick<Branding, 'accent' | 'name'>,
  subject: string,
  language: Language,
  parts: readonly Part[],
  labelled: Labelled,
): Markup {
  // Many mail programs show the light colours alone, or change them themselves. Styles of elements are what all of them read.
  const colours = accentColours(accent, { backgrounds: ['#ffffff'], ink: '#000000', distinct: 1.2 })
  return html`<!doctype html>
    <html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${subject}</title>
      </head>
      <body style="margin:0;padding:0;background:#f5f6f8">
        <div
          style="max-width:32rem;margin:0 auto;padding:24px 16px;font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;color:#1a1d21"
        >
          <div style="background:#ffffff;border:1px solid #dde1e6;border-radius:12px;padding:24px">
            <p style="margin:0 0 16px;font-weight:600">${name}</p>
            ${parts.map((part) => markupOf(part, colours, labelled))}
          </div>
        </div>
      </body>
    </html> `
}

function markupOf(part: Part, { fill, fillText, ink }: ReturnType<typeof accentColours>, labelled: Labelled): Markup {
  switch (part.kind) {
    case 'heading':
      return html`<h1 style="margin:0 0 16px;font-size:20px;line-height:1.3">${part.text}</h1> `
    case 'text':
      return html`<p style="margin:0 0 16px;overflow-wrap:anywhere">${part.text}</p> `
    case 'small':
      return html`<p style="margin:24px 0 0;padding-top:16px;border-top:1px solid #dde1e6;font-size:14px;color:#59616b">
        ${part.text}
      </p> `
    case 'facts':
      return html`<p style="margin:0 0 16px;overflow-wrap:anywhere">
        ${part.facts.map(([name, value]) => html`<span style="color:#59616b">${labelled(name)}</span> ${value}<br />`)}
      </p> `
    case 'code':
      return html`<p style="margin:0 0 16px;font:600 28px/1.4 ui-monospace,Consolas,monospace;letter-spacing:2px">
        ${spaced(part.code)}
      </p> `
    case 'button':
      return html`<p style="margin:0 0 8px">
          <a
            href="${href(part.uri)}"
            style="display:inline-block;padding:10px 18px;border-radius:8px;background:${fill};color:${fillText};text-decoration:none;font-weight:600"
            >${part.label}</a
          >
        </p>
        <p style="margin:0 0 16px;font-size:14px;overflow-wrap:anywhere">
          <a href="${href(part.uri)}" style="color:${ink}">${new URL(part.uri).host}</a>
        </p> `
  }
}

/** Digits in two groups, as people read them. The form ignores the space. */
function spaced(code: string): string {
  return `${code.slice(0, code.length / 2)} ${code.slice(code.length / 2)}`
}
