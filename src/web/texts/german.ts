import { mailGerman } from './mail-german.ts'
import { accountGerman } from './account-german.ts'
import { deviceGerman } from './device-german.ts'
import { html } from '../markup.ts'
import type { Texts } from './texts.ts'

export const german: Texts = {
  title: (heading, brand) => `${heading} · ${brand}`,
  titleWithError: (title) => `Fehler: ${title}`,
  momentsAgo: 'vor weniger als einer Minute',
  namelessApp: 'Eine App ohne Namen',
  namelessAppInside: 'einer App ohne Namen',
  thisComputer: 'diesem Computer',
  footer: 'Kontakt und Rechtliches',
  contact: 'Kontakt',
  terms: 'Nutzungsbedingungen',
  privacy: 'Datenschutz',

  unverified: 'Nicht geprüft',
  registered: (ago) => `registriert ${ago}`,
  firstSeen: (ago) => `hier zuerst verwendet ${ago}`,
  verifiedBy: (brand) => html`Geprüft von ${brand}`,
  from: (host) => html`Von ${host}`,
  appLinks: (scheme) => html`der App, die Links mit ${scheme} öffnet`,

  continueTo: (client) => html`weiter zu ${client}`,
  continueToHost: (client, host) => html`weiter zu ${client} (${host})`,
  continueToComputer: (client) => html`weiter zu ${client} auf diesem Computer`,
  continueToAccount: 'um Ihr Konto zu verwalten',
  continueConfirmed: 'noch einmal, um zu bestätigen, dass Sie es sind',
  signInAgain: 'Sie sind angemeldet. Die App bittet Sie zu bestätigen, dass Sie es sind.',
  email: 'E-Mail',
  password: 'Passwort',
  signIn: 'Anmelden',
  show: 'Anzeigen',
  showPassword: 'Passwort anzeigen',
  forgot: 'Passwort vergessen?',
  forgotHint: (brand) =>
    html`Bitten Sie den Betreiber von ${brand} um einen Link. Damit wählen Sie ein neues Passwort oder einen anderen
    Weg, sich anzumelden.`,
  lostPasskey: 'Passkey verloren?',
  forgotHeading: 'Wieder anmelden',
  forgotLead:
    'Geben Sie die E-Mail-Adresse Ihres Kontos ein. Sie bekommen einen Link, mit dem Sie ein neues Passwort oder einen anderen Weg wählen, sich anzumelden.',
  forgotSend: 'Link schicken',
  forgotDoneHeading: 'Sehen Sie in Ihr Postfach',
  forgotDone: 'Wenn es ein Konto mit dieser Adresse gibt, ist eine E-Mail unterwegs. Ihr Link gilt eine Stunde.',
  forgotAtProvider: (provider) =>
    html`Konten mit einer solchen Adresse melden sich mit ${provider} an und haben hier kein Passwort. Gehen Sie zurück
    und geben Sie die Adresse dort ein.`,
  forgotNothing:
    'Nichts da? Sehen Sie auch im Spam-Ordner nach und prüfen Sie die Adresse. Sonst fragen Sie den Betreiber.',
  backToSignIn: 'Zurück zur Anmeldung',
  wrongCredentials: 'E-Mail und Passwort passen nicht zusammen. Prüfen Sie beides und versuchen Sie es noch einmal.',
  emailMissing: 'Geben Sie Ihre E-Mail-Adresse ein.',
  addressUnknown:
    'Für diese Adresse gibt es keine Anmeldung. Prüfen Sie die Schreibweise, oder wählen Sie einen anderen Weg.',
  passwordMissing: 'Geben Sie Ihr Passwort ein.',
  passwordTooLong: 'So lange Passwörter gibt es hier nicht. Prüfen Sie, ob Sie den richtigen Text eingefügt haben.',
  accountRefused: 'Mit diesem Konto ist die Anmeldung hier nicht möglich.',
  applicationRefused: 'Sie sind nicht angemeldet. Sie können es noch einmal versuchen.',
  notAnswered: 'Sie sind noch nicht angemeldet, weil keine Antwort kam. Versuchen Sie es gleich noch einmal.',
  secondStep: 'Mit zweitem Schritt bestätigen',
  noSecondStep:
    'Ihr Konto braucht einen zweiten Schritt, und Ihrer funktioniert hier gerade nicht. Versuchen Sie es später noch einmal, oder fragen Sie den Betreiber.',
  stepUp: (client) => html`${client} verlangt mehr Sicherheit: Bestätigen Sie mit Ihrem zweiten Schritt.`,
  stepUpFor: 'Er ist nötig für',
  continueWithout: 'Ohne fortfahren',
  otherAccount: 'Mit einem anderen Konto anmelden',
  scopeNeedsStep: {
    withheld: 'Dafür ist ein zweiter Schritt bei der Anmeldung nötig, für den in Ihrem Konto nichts eingerichtet ist.',
    declined: 'Dafür ist ein zweiter Schritt nötig, den Sie ausgelassen haben.',
  },
  passkeyStep: 'Passkey benutzen',
  secondStepExpired:
    'Sie sind nicht angemeldet, weil der zweite Schritt zu lange gedauert hat oder schon getan war. Melden Sie sich noch einmal an.',
  code: 'Code',
  codeHint: 'Sechs Ziffern aus Ihrer Authenticator-App',
  codeWrong: 'Dieser Code stimmt nicht. Warten Sie auf den nächsten und versuchen Sie es noch einmal.',
  codeUsed: 'Dieser Code wurde schon benutzt. Warten Sie auf den nächsten.',
  codesLocked:
    'Zu viele falsche Codes. Benutzen Sie einen Passkey oder einen Wiederherstellungscode, oder fragen Sie den Betreiber.',
  cannotUseApp: 'Ich kann meine App nicht benutzen',
  recoveryCode: 'Wiederherstellungscode',
  recoveryCodeWrong: 'Dieser Wiederherstellungscode stimmt nicht oder wurde schon benutzt.',
  setUpSecondStep: 'Anmeldung in zwei Schritten einrichten',
  secondStepNeeded:
    'Ihr Konto braucht einen zweiten Schritt. Richten Sie ihn einmal ein: mit einem Passkey, wenn diese Seite einen anbietet, oder mit einer Authenticator-App auf Ihrem Telefon oder Computer.',
  scanCode:
    'Scannen Sie diesen Code mit Ihrer Authenticator-App und geben Sie dann die sechs Ziffern ein, die die App zeigt.',
  qrCode: 'QR-Code für Ihre Authenticator-App',
  typeKey: 'Wenn Sie ihn nicht scannen können, geben Sie diesen Schlüssel in die App ein:',
  recoveryCodes: 'Wiederherstellungscodes',
  recoverySave:
    'Drucken Sie diese Codes aus oder bewahren Sie sie sicher auf. Jeder gilt einmal, wenn Sie Ihre App verlieren. Sie sehen sie nur jetzt.',
  recoveryDownload: 'Als Datei speichern',
  passkeySignIn: 'Mit Passkey anmelden',
  passkeyFailed: 'Der Passkey hat nicht funktioniert. Versuchen Sie es noch einmal oder melden Sie sich anders an.',
  passkeyUnknown: 'Dieser Passkey gehört hier zu keinem Konto. Vielleicht wurde er entfernt.',
  noPasskey: {
    get: 'Es wurde kein Passkey benutzt. Versuchen Sie es noch einmal oder melden Sie sich anders an.',
    create:
      'Es wurde kein Passkey hinzugefügt. Versuchen Sie es noch einmal. Ein Gerät, das schon einen für dieses Konto hat, macht keinen zweiten, und ein Sicherheitsschlüssel braucht eine PIN.',
  },
  passkeyLost: 'Wenn Sie Ihren Passkey nicht mehr haben, bitten Sie den Betreiber um einen Link.',
  methodOff: 'Auf diesem Weg können Sie sich hier nicht mehr anmelden. Es ist nichts geschehen.',
  noSignInMethod: 'Zurzeit gibt es hier keinen Weg, sich anzumelden. Sagen Sie es dem Betreiber.',
  or: 'oder',
  continue: 'Weiter',
  continueWith: (provider) => html`Weiter mit ${provider}`,
  providerAway: 'Der Anbieter antwortet gerade nicht. Sie können es trotzdem versuchen.',
  providerOff: (provider) =>
    html`Die Anmeldung mit ${provider} ist hier zurzeit abgeschaltet. Fragen Sie den Betreiber dieser Seite.`,
  providerDown: (provider, isRequired) =>
    html`${provider} antwortet gerade nicht. Versuchen Sie es in einer Minute noch
    einmal${isRequired ? '.' : ', oder melden Sie sich anders an.'}`,
  providerNotFresh: (provider) =>
    html`Sie müssen sich bei ${provider} neu anmelden, wurden dort aber nicht danach gefragt. Melden Sie sich bei
    ${provider} ab, und versuchen Sie es hier noch einmal.`,
  providerFailed: (provider, isRequired) =>
    html`${provider} hat nicht bestätigt, wer Sie sind. Versuchen Sie es noch
    einmal${isRequired ? '.' : ', oder melden Sie sich anders an.'}`,
  noAccount: (provider) =>
    html`Sie haben hier kein Konto mit ${provider}. Bitten Sie den Betreiber dieser Seite um eine Einladung.`,
  noAccountOf: (email, provider) =>
    html`Zu ${email} bei ${provider} gehört hier kein Konto. Bitten Sie den Betreiber dieser Seite um eine Einladung.`,
  identityTaken: (provider) =>
    html`Ihr Konto bei ${provider} wurde gerade eben verbunden. Melden Sie sich noch einmal an.`,
  signInToConnect: (provider, isRequired) =>
    html`Sie haben hier schon ein Konto. Melden Sie sich einmal damit an, um ${provider} zu verbinden. Danach
    ${isRequired ? html`melden Sie sich nur noch mit ${provider} an` : 'können Sie sich mit beidem anmelden'}.`,
  connectByPasskey:
    'Wenn das Konto einen Passkey hat, melden Sie sich mit dem Passkey an: Ein Passwort verbindet es dann nicht.',
  leaveTitle: 'Weiter zur Anmeldung',
  leaveHeading: (provider) => html`Weiter zu ${provider}`,
  leaveHint: (provider) => html`Sie melden sich bei ${provider} an und kommen dann hierher zurück.`,
  throttled: (when) => `Zu viele Versuche. Versuchen Sie es ${when} noch einmal.`,
  busy: (when) => `Gerade melden sich sehr viele Menschen an. Versuchen Sie es ${when} noch einmal.`,

  consentTitle: 'Zugriff erlauben',
  consentHeading: (client) => html`${client} möchte Ihr Konto verwenden`,
  onlyIfStarted:
    'Jeder kann eine App unter jedem Namen registrieren. Erlauben Sie den Zugriff nur, wenn Sie das gerade selbst begonnen haben.',
  ableTo: 'Das wird die App können',
  noScope: 'Die App bittet um keine Berechtigungen. Sie erfährt, welches Konto Sie hier haben, und kann sonst nichts.',
  noLimit: (api) => html`Was die App mit Ihrem Konto bei ${api} tun kann, ist nicht durch Berechtigungen begrenzt.`,
  usedWith: 'Zugriff auf',
  describedBy: 'Beschrieben von',
  sendsYouTo: 'Schickt Sie zu',
  anyProgram: (site) => html`Jedes Programm auf diesem Computer kann sich als diese App von ${site} ausgeben.`,
  loopbackWarning:
    'Wenn Ihr Browser danach eine Adresse zeigt, die sich nicht öffnet: Fügen Sie sie nirgends ein und geben Sie sie niemandem.',
  signedInAs: 'Angemeldet als',
  withoutEmail: 'ohne E-Mail-Adresse',
  switchAccount: 'Wechseln',
  organization: 'Organisation',
  organizationHint: 'Was Sie erlauben, gilt nur für diese Organisation.',
  chooseOrganization: 'Organisation wählen',
  withoutOrganization: 'Ohne Organisation',
  organizationMissing: 'Wählen Sie, für welche Organisation Sie es erlauben.',
  organizationGone: 'Zu dieser Organisation gehören Sie nicht oder nicht mehr. Es wurde nichts erlaubt.',
  deny: 'Ablehnen',
  allow: 'Erlauben',
  leaveOut: 'Entfernen Sie den Haken bei allem, was Sie nicht erlauben möchten.',
  scopeMissing: 'So kann die App nicht arbeiten. Wählen Sie mehr aus, oder lehnen Sie ab.',
  takeBack: (connectedApps) => html`Sie können das jederzeit zurücknehmen, unter ${connectedApps}.`,

  identityScopes: {
    openid: 'Wissen, dass Sie es sind',
    profile: 'Ihren Namen und weitere Angaben Ihres Profils sehen',
    email: 'Ihre E-Mail-Adresse sehen',
    phone: 'Ihre Telefonnummer sehen',
    address: 'Ihre Postanschrift sehen',
    offline_access: 'Verbunden bleiben, während Sie abwesend sind',
  },

  formPostTitle: 'Zurück zur App',
  formPostHint: 'Ihr Browser kehrt von selbst zur App zurück. Wenn nicht, drücken Sie den Knopf.',

  returnTitle: 'Diese Anfrage hat nicht funktioniert',
  returnHeading: (client) => html`${client} hat eine Anfrage geschickt, die nicht funktioniert`,
  returnProblems: {
    invalid_request:
      'Die Anfrage ist unvollständig oder widerspricht sich. Der Fehler liegt bei der App, nicht bei Ihnen.',
    invalid_scope: 'Die App verlangt eine Berechtigung, die es nicht gibt oder die sie nicht haben darf.',
    invalid_target:
      'Die App möchte eine Schnittstelle verwenden, die es hier nicht gibt oder die sie nicht verwenden darf.',
    access_denied: 'Die App verlangt eine Organisation, zu der Ihr Konto nicht gehört.',
    unsupported_response_type: 'Die App verlangt eine Art von Antwort, die es hier nicht gibt.',
    request_not_supported: 'Die App hat ihre Anfrage in einer Form geschickt, die es hier nicht gibt.',
    request_uri_not_supported: 'Die App verweist auf eine anderswo abgelegte Anfrage. Das gibt es hier nicht.',
    unauthorized_client: 'Die App darf auf diese Weise nicht um Zugriff bitten.',
    interaction_required: 'Sie müssen zuerst etwas erledigen, bevor Sie dort weitermachen können.',
    temporarily_unavailable: 'Die Anmeldung ist im Moment nicht möglich. Versuchen Sie es später noch einmal.',
    login_required: 'Die App braucht Ihre Anmeldung, oder die einer anderen Person als der angemeldeten.',
    registration_not_supported: 'Die App wollte sich auf eine Weise vorstellen, die es hier nicht gibt.',
    unmet_authentication_requirements: 'Die App verlangt eine Art der Anmeldung, die es hier nicht gibt.',
    consent_required:
      'Die App wollte fortfahren, ohne Ihnen eine Seite zu zeigen. Das haben Sie aber noch nicht erlaubt.',
  },
  returnOffer:
    'Es wurde nichts weitergegeben. Sie können diese Seite schließen oder zurückgehen und es noch einmal versuchen.',
  leadsTo: 'Der Link führt zu',
  returnTo: (host) => html`Zurück zu ${host}`,
  returnToComputer: 'Zurück zur App auf diesem Computer',
  returnToApp: 'Zurück zur App',
  forDevelopers: 'Für Entwickler',

  reference: 'Wenn Sie um Hilfe bitten, nennen Sie diese Kennung:',

  errors: {
    'client-unknown': {
      heading: 'Diese App ist hier nicht bekannt',
      happened: 'Die App, die Sie hergeschickt hat, ist nicht registriert oder wurde entfernt.',
      todo: 'Gehen Sie zurück zur App, entfernen Sie dort die Verbindung und fügen Sie sie neu hinzu.',
    },
    'client-unidentified': {
      heading: 'Diese App lässt sich nicht erkennen',
      happened:
        'Die App wird von einem Dokument auf ihrer Website beschrieben. Es konnte nicht gelesen werden oder enthält einen Fehler.',
      todo: 'Versuchen Sie es in einigen Minuten noch einmal. Wenn diese Seite wiederkommt, sagen Sie es den Herstellern der App. Es wurde nichts weitergegeben.',
    },
    'client-not-allowed': {
      heading: 'Diese App ist hier nicht erlaubt',
      happened: 'Der Betreiber dieser Seite lässt diese App nicht zu, oder die Adresse, an die sie Sie schicken würde.',
      todo: 'Wenn Sie die App brauchen, fragen Sie den Betreiber. Es wurde nichts weitergegeben.',
    },
    'redirect-missing': {
      heading: 'Die Zieladresse fehlt',
      happened: 'Die App hat nicht angegeben, an welche ihrer Adressen Sie zurückkehren sollen.',
      todo: 'Gehen Sie zurück zur App und verbinden Sie sie neu. Kommt diese Seite wieder, sagen Sie es dem Hersteller der App.',
    },
    'redirect-unknown': {
      heading: 'Diese Zieladresse ist nicht bekannt',
      happened:
        'Die App möchte Sie an eine Adresse schicken, die sie nicht registriert hat. Zum Schutz Ihres Kontos halten wir hier an.',
      todo: 'Gehen Sie zurück zur App und verbinden Sie sie neu. Kommt diese Seite wieder, sagen Sie es dem Hersteller der App.',
    },
    'redirect-not-allowed': {
      heading: 'Diese Zieladresse ist nicht erlaubt',
      happened:
        'Die App möchte Sie an eine Adresse schicken, die diese Seite nicht erlaubt. Zum Schutz Ihres Kontos halten wir hier an.',
      todo: 'Wenn Sie die App brauchen, zeigen Sie diese Seite dem Betreiber: Die Einstellung GRANTOR_REDIRECT_SCHEMES erlaubt die Adressen von Apps.',
    },
    'request-malformed': {
      heading: 'Dieser Link ist nicht lesbar',
      happened: 'In der Anfrage fehlt etwas, oder sie ist beschädigt.',
      todo: 'Gehen Sie zurück zur App und beginnen Sie neu. Wenn Sie den Link eingefügt haben, prüfen Sie, ob er vollständig ist.',
    },
    expired: {
      heading: 'Diese Seite ist abgelaufen',
      happened: 'Seit dem Beginn ist zu viel Zeit vergangen, die Anfrage gilt nicht mehr.',
      todo: 'Gehen Sie zurück zur App und beginnen Sie neu.',
    },
    'link-invalid': {
      heading: 'Dieser Link gilt nicht mehr',
      happened: 'Er wurde benutzt, durch einen neueren ersetzt oder ist zu alt. Oder er ist unvollständig.',
      todo: 'Prüfen Sie, ob Sie den ganzen Link kopiert haben. Sonst öffnen Sie Ihr Konto und wählen „Passwort vergessen?“, oder bitten Sie den Betreiber um einen neuen.',
    },
    'provider-failed': {
      heading: 'Der Anbieter hat nicht bestätigt, wer Sie sind',
      happened: 'Sie haben dort abgebrochen, oder der Anbieter antwortet gerade nicht. Es wurde nichts geändert.',
      todo: 'Gehen Sie zurück und versuchen Sie es in einer Minute noch einmal.',
    },
    'identity-taken': {
      heading: 'Dieses Konto ist schon verbunden',
      happened:
        'Das Konto, mit dem Sie sich beim Anbieter angemeldet haben, gehört hier schon zu einem Konto. Es wurde nichts geändert.',
      todo: 'Melden Sie sich damit an, oder nehmen Sie ein anderes Konto beim Anbieter.',
    },
    'other-browser': {
      heading: 'Das wurde in einem anderen Browser begonnen',
      happened: 'Die Anfrage gehört zu einem anderen Browser oder privaten Fenster, oder Cookies sind gesperrt.',
      todo: 'Fahren Sie in dem Browser fort, in dem Sie begonnen haben, oder beginnen Sie in der App neu. Fahren Sie nicht fort, wenn Ihnen jemand den Link geschickt hat.',
    },
    'already-completed': {
      heading: 'Das ist schon erledigt',
      happened: 'Sie haben diese Anfrage schon beantwortet, vielleicht in einem anderen Tab.',
      todo: 'Gehen Sie zurück zur App. Wenn sie noch wartet, beginnen Sie dort neu.',
    },
    'user-changed': {
      heading: 'Sie sind jetzt mit einem anderen Konto angemeldet',
      happened: 'Das Konto in diesem Browser hat gewechselt, während diese Seite offen war. Es wurde nichts erlaubt.',
      todo: 'Gehen Sie zurück zur App, beginnen Sie neu und prüfen Sie das Konto, bevor Sie zustimmen.',
    },
    forged: {
      heading: 'Dieses Formular stammt nicht von unserer Seite',
      happened: 'Wir konnten nicht bestätigen, dass Sie es selbst abgeschickt haben. Es ist nichts geschehen.',
      todo: 'Gehen Sie zurück zur App und beginnen Sie neu. Cookies müssen für diese Seite erlaubt sein.',
    },
    'too-many-requests': {
      heading: 'Zu viele Anfragen',
      happened: 'Aus Ihrem Netz kamen in kurzer Zeit mehr Anfragen als üblich.',
      todo: 'Warten Sie eine Minute und laden Sie diese Seite dann neu.',
    },
    'not-found': {
      heading: 'Hier ist keine Seite',
      happened: 'Die Adresse ist vielleicht falsch geschrieben oder veraltet.',
      todo: 'Prüfen Sie die Adresse, oder gehen Sie zurück zur App und beginnen Sie neu.',
    },
    home: {
      heading: 'Hier gibt es nichts zu tun',
      happened:
        'Apps schicken Sie hierher, wenn sie Ihr Konto benutzen möchten. Selbst brauchen Sie diese Seite nicht zu öffnen.',
      todo: 'Gehen Sie zu der App, die Sie benutzen möchten, und beginnen Sie dort. In Ihrem Konto sehen Sie, welche Apps es benutzen können.',
    },
    unavailable: {
      heading: 'Wir sind gerade nicht erreichbar',
      happened: 'Der Dienst ist überlastet oder wird gewartet. Es ist nichts geschehen.',
      todo: 'Warten Sie eine Minute und laden Sie diese Seite dann neu.',
    },
    'sign-in-failed': {
      heading: 'Die Anmeldung ist gerade nicht möglich',
      happened:
        'Wir konnten nicht feststellen, wer Sie sind. Der Fehler wurde festgehalten, und es wurde nichts erlaubt.',
      todo: 'Warten Sie eine Minute und laden Sie diese Seite dann neu. Kommt diese Seite wieder, sagen Sie es dem Betreiber.',
    },
    'server-error': {
      heading: 'Bei uns ist etwas schiefgegangen',
      happened: 'Die Anfrage konnte nicht abgeschlossen werden. Der Fehler wurde festgehalten.',
      todo: 'Gehen Sie zurück zur App und beginnen Sie neu. Kommt diese Seite wieder, sagen Sie es dem Betreiber.',
    },
  },

  account: accountGerman,
  device: deviceGerman,
  mail: mailGerman,

  signOutHeading: (brand) => html`Von ${brand} abmelden?`,
  signOutAs: (email) => html`Sie sind als ${email} angemeldet.`,
  signOutConsequence:
    'Damit melden Sie sich in diesem Browser ab, auch bei Apps, die das unterstützen. Um angemeldet zu bleiben, schließen Sie diese Seite.',
  signOut: 'Abmelden',
  signedOutHeading: 'Sie sind abgemeldet',
  signedOut: 'Sie können diese Seite schließen.',
}
