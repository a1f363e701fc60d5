/**
 * Passwords of eight and more characters that head the published lists of leaked ones, in lower case. They
 * are compared without the digits and marks that people put at the end, so that `Password123!` is found too.
 */
const common = new Set(
  `password passw0rd p@ssword p@ssw0rd passwort motdepasse contraseña wachtwoord iloveyou sunshine princess
  football baseball basketball superman batman123 trustno1 whatever computer internet michelle jennifer
  elizabeth alexander victoria danielle jonathan samantha christian nicholas benjamin patricia veronica
  starwars pokemon1 slipknot liverpool chelsea1 arsenal1 barcelona juventus manchester mustang1 mercedes
  ferrari1 corvette harley-davidson yamaha12 qwertyui qwertyuiop qwerty123 asdfghjk asdfghjkl zxcvbnm1
  1q2w3e4r 1q2w3e4r5t 1qaz2wsx zaq12wsx q1w2e3r4 qazwsxedc azertyui azertyuiop qwertzui letmein1 letmein!
  welcome1 welcome123 changeme change-me changeit replaceme replace-me default1 administrator administrateur
  adminadmin admin123 admin1234 rootroot toor1234 master12 secret12 secretsecret temporary testtest test1234
  testing1 username guest123 demo1234 login123 access14 dragon12 monkey12 shadow12 killer12 hunter22 abc12345
  abcd1234 abcdefgh abcdefghi aa123456 a1234567 a1b2c3d4 1234qwer 123qwerty qwer1234 asdf1234 zxcv1234
  12345678 123456789 1234567890 0123456789 987654321 87654321 9876543210 11223344 12121212 12341234 123123123
  123321123 147258369 741852963 159357456 31415926 19841984 20202020 11111111 00000000 millrace millrace1`.split(
    /\s+/,
  ),
)

const stem = (password: string): string => password.replace(/[\d!?.,*#$@_-]+$/, '')

/** Whether a password is one of those that everybody tries first, or one character over and over. */
export function isCommonPassword(password: string): boolean {
  const lower = password.toLowerCase()
  return common.has(lower) || common.has(stem(lower)) || new Set(lower).size < 3
}
