//! `PriorityUsageResetPeriod`: when all usage is forgotten. Calendar days are UTC's.
//! Source: slurm.conf(5).

use crate::policy::UsageReset;

const DAY: i64 = 86_400;

/// Whether a reset falls in (`since`, `now`] [Unix s].
pub(crate) fn is_due(period: UsageReset, since: i64, now: i64) -> bool {
    period_number(period, since) != period_number(period, now)
}

/// Counts the periods before an instant.
fn period_number(period: UsageReset, time: i64) -> i64 {
    let days = time.div_euclid(DAY);
    let (year, month) = civil_month(days);
    match period {
        UsageReset::None | UsageReset::Now => 0,
        UsageReset::Daily => days,
        // 1970-01-01 was a Thursday; weeks begin on Sunday.
        UsageReset::Weekly => (days + 4).div_euclid(7),
        UsageReset::Monthly => year * 12 + month,
        UsageReset::Quarterly => year * 4 + month / 3,
        UsageReset::Yearly => year,
    }
}

/// Year and month (0–11) of a day since 1970-01-01 in the Gregorian calendar.
fn civil_month(days: i64) -> (i64, i64) {
    // Years are counted from March, so that the leap day comes last.
    let since_march_0000 = days + 719_468;
    let era = since_march_0000.div_euclid(146_097);
    let day_of_era = since_march_0000.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let month = (month_from_march + 2) % 12;
    (year_of_era + era * 400 + i64::from(month < 2), month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_month_begins_on_the_first() {
        let february_2024_29 = 1_709_164_800;
        assert_eq!(civil_month(february_2024_29 / DAY), (2024, 1));
        assert_eq!(civil_month(february_2024_29 / DAY + 1), (2024, 2));
        assert!(is_due(UsageReset::Monthly, february_2024_29, february_2024_29 + DAY));
        assert!(!is_due(UsageReset::Quarterly, february_2024_29, february_2024_29 + DAY));
    }

    #[test]
    fn a_week_begins_on_sunday() {
        let saturday = 1_709_337_600;
        assert!(is_due(UsageReset::Weekly, saturday, saturday + DAY));
        assert!(!is_due(UsageReset::Weekly, saturday + DAY, saturday + 2 * DAY));
    }
}
