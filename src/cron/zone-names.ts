// Intl takes a zone's name in any case, and may give the name of another one back: where `Asia/Kolkata` is asked for,
// some runtimes answer `Asia/Calcutta`. So the usual spelling follows from a rule, and from a list of what breaks it.

/** Old names of single words or with hyphens, and words that are not written with one capital letter. */
const UNUSUAL = new Map(
  (
    "CET CST6CDT EET EST EST5EDT GB GB-Eire GMT GMT+0 GMT-0 GMT0 HST MET MST MST7MDT NZ NZ-CHAT PRC PST8PDT ROC ROK " +
    "UCT UTC WET W-SU Africa/Dar_es_Salaam America/Argentina/ComodRivadavia America/Knox_IN America/Port-au-Prince " +
    "America/Port_of_Spain Antarctica/DumontDUrville Antarctica/McMurdo Australia/ACT Australia/LHI Australia/NSW " +
    "Brazil/DeNoronha Chile/EasterIsland Europe/Isle_of_Man Mexico/BajaNorte Mexico/BajaSur"
  )
    .split(" ")
    .map((name) => [name.toLowerCase(), name]),
);
const WORD = /[a-z]+/g;
/** Names of ICU, which some runtimes take although they are no names of the IANA database. */
const ICU_ONLY = /^(?:systemv\/|[a-z]{3}$)/;

/** The usual spelling of a time zone's name, which may come in any case. The name need not exist.
 *  @throws {RangeError} for names that only Intl knows, such as `PST` */
export function spelledZone(name: string): string {
  const lower = name.toLowerCase();
  const unusual = UNUSUAL.get(lower);
  if (unusual !== undefined) return unusual;
  if (ICU_ONLY.test(lower)) throw new RangeError(`not in the IANA database: ${name}`);
  return lower
    .replace(WORD, (word) => word.charAt(0).toUpperCase() + word.slice(1))
    .replace(/^Us\/|\/(?:Gmt|Uct|Utc)/, (word) => word.toUpperCase());
}
