import type { MailTexts } from './mail-texts.ts'

export const mailGerman: MailTexts = {
  invitationSubject: (brand) => `Ihr Konto bei ${brand}`,
  invitation: (brand, address) =>
    `${brand} hat ein Konto für Sie angelegt, mit der Adresse ${address}. Wählen Sie, wie Sie sich anmelden möchten.`,
  invitationButton: 'Konto einrichten',
  resetSubject: (brand) => `Wieder bei ${brand} anmelden`,
  reset: (brand, address) =>
    `Mit diesem Link wählen Sie, wie Sie sich künftig bei Ihrem Konto ${address} bei ${brand} anmelden.`,
  resetConsequence:
    'Danach sind alle Browser abgemeldet, und Apps, denen Sie Zugriff erlaubt haben, müssen Sie neu fragen.',
  resetButton: 'Zugang wiederherstellen',
  codeSubject: (brand) => `Ihr Code für ${brand}`,
  code: (brand, address) =>
    `Um die Adresse ${address} für Ihr Konto bei ${brand} zu bestätigen, geben Sie diesen Code ein:`,
  codeValid: (span) => `Der Code gilt ${span}. Geben Sie ihn nur auf der Seite ein, auf der Sie ihn angefordert haben.`,
  linkValid: (span) => `Der Link gilt ${span} und nur einmal.`,
  unexpectedInvitation: 'Wenn Sie diese E-Mail nicht erwarten, müssen Sie nichts tun.',
  unexpectedReset: 'Wenn Sie das nicht angefordert haben, müssen Sie nichts tun: Ihr Konto bleibt, wie es ist.',
  unexpectedCode:
    'Wenn Sie das nicht angefordert haben, müssen Sie nichts tun. Geben Sie den Code an niemanden weiter.',
  notices: {
    'password-changed': 'Für Ihr Konto wurde ein neues Passwort gesetzt',
    'password-removed': 'Ihr Passwort wurde entfernt',
    'passkey-added': 'Ein Passkey wurde zu Ihrem Konto hinzugefügt',
    'passkey-removed': 'Ein Passkey wurde aus Ihrem Konto entfernt',
    'provider-added': 'Ein weiterer Weg zur Anmeldung wurde mit Ihrem Konto verbunden',
    'provider-removed': 'Ein Weg zur Anmeldung wurde aus Ihrem Konto entfernt',
    'two-step-on': 'Die Anmeldung in zwei Schritten wurde eingerichtet',
    'two-step-off': 'Die Anmeldung in zwei Schritten wurde ausgeschaltet',
    'two-step-reset': 'Der Betreiber hat Ihre Anmeldung in zwei Schritten zurückgesetzt',
    'recovery-codes-replaced': 'Neue Wiederherstellungscodes wurden erstellt',
    'recovery-code-used': 'Ein Wiederherstellungscode wurde zur Anmeldung benutzt',
    'email-changed': 'Die E-Mail-Adresse Ihres Kontos wurde geändert',
    'counter-back': 'Von einem Ihrer Passkeys gibt es vielleicht eine Kopie',
    'codes-wrong': 'Für Ihr Konto wurden fünf falsche Codes eingegeben',
    'app-ended': 'Der Zugriff einer App wurde beendet: Kopien davon wurden an zwei Orten benutzt',
  },
  account: 'Konto',
  when: 'Wann',
  browser: 'Browser',
  wasYou: {
    usual: 'Wenn Sie das waren oder der Betreiber es für Sie getan hat, müssen Sie nichts tun.',
    'codes-wrong': 'Wenn Sie das waren, müssen Sie nichts tun.',
    'recovery-code-used': 'Wenn Sie das waren, müssen Sie nichts tun.',
    'app-ended':
      'Wenn Sie die App auf mehreren Geräten oder mit einem VPN benutzen: Melden Sie sich in der App neu an.',
  },
  wasNotYou: {
    usual:
      'Wenn Sie das nicht waren: Melden Sie sich an, entfernen Sie die Anmeldewege, die Sie nicht kennen, setzen Sie ein neues Passwort und melden Sie die anderen Browser ab. Wenn Sie sich nicht mehr anmelden können, fragen Sie den Betreiber.',
    'email-changed':
      'Wenn Sie das nicht waren: Fragen Sie sofort den Betreiber. Vielleicht benutzt eine andere Person Ihr Konto.',
    'two-step-reset':
      'Melden Sie sich an und richten Sie sie neu ein. Wenn Sie nicht darum gebeten haben: Sagen Sie es sofort dem Betreiber. Vielleicht hat eine andere Person in Ihrem Namen gefragt.',
    'counter-back':
      'Bei einer Anmeldung hatte ein Passkey einen zu niedrigen Zähler. Das kommt vor, wenn ein Passkey kopiert oder wiederhergestellt wurde. Wenn Sie den Grund nicht kennen: Entfernen Sie den Passkey und fügen Sie einen neuen hinzu. Eine Stunde lang bekommen Sie dazu keine zweite E-Mail.',
    'app-ended':
      'Wenn nicht: Vielleicht hat eine andere Person eine Datei der App kopiert und konnte bis jetzt Ihr Konto benutzen. Sehen Sie Ihre Apps an und entfernen Sie die, die Sie nicht kennen. Eine Stunde lang bekommen Sie dazu keine zweite E-Mail, auch wenn weitere Apps enden.',
    'codes-wrong':
      'Der erste Schritt der Anmeldung war richtig. Wenn Sie das nicht waren, kennt vielleicht eine andere Person Ihr Passwort: Setzen Sie ein neues.',
  },
  securityButton: 'Anmeldewege prüfen',
  testSubject: (brand) => `${brand} kann E-Mails senden`,
  test: (brand) => `Dies ist ein Test. Die E-Mail-Einstellungen von ${brand} funktionieren.`,
  automatic: (brand) => `${brand} hat diese E-Mail automatisch gesendet. Antworten werden nicht gelesen.`,
}
