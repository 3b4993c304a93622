//! The few statistics a comparison needs, each defined. Sums run in a fixed order, so results agree on every machine.

/// Arithmetic mean; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The values in ascending order.
pub fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// The percentile of ascending values: nearest rank; the 50th is the median (mean of the middle two). `None` of nothing.
pub fn percentile(ascending: &[f64], percent: usize) -> Option<f64> {
    let n = ascending.len();
    let at = |index: usize| ascending.get(index).copied();
    if percent == 50 && n.is_multiple_of(2) {
        return Some((at((n / 2).checked_sub(1)?)? + at(n / 2)?) / 2.0);
    }
    let rank = (n * percent).div_ceil(100).clamp(1, n.max(1));
    at(rank - 1)
}

/// Rounded to so many decimals, half away from zero, and never −0.
pub fn rounded(value: f64, decimals: u32) -> f64 {
    let scale = 10f64.powi(decimals as i32);
    let scaled = value * scale;
    // Beyond 2^52 every float is whole already.
    if scaled.abs() >= 4_503_599_627_370_496.0 { value } else { scaled.round() / scale + 0.0 }
}

/// Running mean and spread of values (Welford 1962).
#[derive(Clone, Copy, Debug, Default)]
pub struct Moments {
    n: u64,
    mean: f64,
    squares: f64,
}

impl Moments {
    /// Takes in a value. O(1).
    pub fn push(&mut self, value: f64) {
        self.n += 1;
        let before = value - self.mean;
        self.mean += before / self.n as f64;
        self.squares += before * (value - self.mean);
    }

    /// The mean; `None` of nothing.
    pub fn mean(&self) -> Option<f64> {
        (self.n > 0).then_some(self.mean)
    }

    /// The 95 % interval of the mean by Student's t; `None` below two values.
    pub fn interval(&self) -> Option<(f64, f64)> {
        self.around_mean(1.0 / self.n as f64)
    }

    /// Where one more value lies with 95 % probability, if they are normal: the prediction interval by Student's t. `None` below two values.
    pub fn range(&self) -> Option<(f64, f64)> {
        self.around_mean(1.0 + 1.0 / self.n as f64)
    }

    /// The mean, and on both sides of it Student's t times the root of so many variances.
    fn around_mean(&self, variances: f64) -> Option<(f64, f64)> {
        let freedom = self.n.checked_sub(1).filter(|freedom| *freedom > 0)?;
        let variance = self.squares / freedom as f64;
        let half = student_t_975(freedom) * (variance * variances).sqrt();
        Some((self.mean - half, self.mean + half))
    }
}

/// The 97.5 % point of Student's t. Source: published tables up to 10 degrees of freedom; above, the expansion of Fisher and
/// Cornish (Abramowitz and Stegun 26.7.5), true to four decimals there.
pub fn student_t_975(freedom: u64) -> f64 {
    const TABLE: [f64; 10] = [
        12.706_204_74,
        4.302_652_73,
        3.182_446_31,
        2.776_445_11,
        2.570_581_84,
        2.446_911_85,
        2.364_624_25,
        2.306_004_14,
        2.262_157_16,
        2.228_138_85,
    ];
    const Z: f64 = 1.959_963_984_540_054;
    if let Some(value) = usize::try_from(freedom).ok().and_then(|freedom| TABLE.get(freedom.checked_sub(1)?)) {
        return *value;
    }
    let v = freedom as f64;
    let (z2, z) = (Z * Z, Z);
    let g1 = z * (z2 + 1.0) / 4.0;
    let g2 = z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    let g3 = z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    let g4 = z * ((((79.0 * z2 + 776.0) * z2 + 1482.0) * z2 - 1920.0) * z2 - 945.0) / 92_160.0;
    z + (g1 + (g2 + (g3 + g4 / v) / v) / v) / v
}
