#![allow(clippy::unwrap_used)]

use proptest::prelude::*;

use super::*;

fn check_expand(list: &str, names: &str) {
    assert_eq!(expand(list, 1000).unwrap().join(" "), names, "{list}");
}

fn check_compress(names: &str, list: &str) {
    assert_eq!(compress(names.split(' ')), list);
    let mut printed = String::from("kept,");
    let mut ordered: Vec<&str> = names.split(' ').collect();
    ordered.sort_by(|a, b| natural_cmp(a, b));
    NodeNames::new(ordered.iter().copied()).hostlist(&[(0, ordered.len() as u32 - 1)], &mut printed);
    assert_eq!(printed, format!("kept,{list}"));
}

#[test]
fn brackets_expand_with_their_padding() {
    check_expand("n[1-3]", "n1 n2 n3");
    check_expand("n[08-10],gpu1", "n08 n09 n10 gpu1");
    check_expand("n0[004-005,100].savio[1]", "n0004.savio1 n0005.savio1 n0100.savio1");
    check_expand("r2i[4-5]n[0-1]", "r2i4n0 r2i4n1 r2i5n0 r2i5n1");
    check_expand("r[1,2i[0-1]]x", "r1x r2i0x r2i1x");
    check_expand("lxb00[1,2]", "lxb001 lxb002");
    check_expand("a, b", "a b");
    check_expand("", "");
}

#[test]
fn a_hostlist_that_cannot_be_read_names_its_fault() {
    let fault = |list: &str| expand(list, 1000).unwrap_err().to_string();
    assert_eq!(fault("n[1-3"), "'n[1-3' has an unbalanced bracket");
    assert_eq!(fault("n1]"), "'n1]' has an unbalanced bracket");
    assert_eq!(fault("n[a-b]"), "'a-b' is neither a number nor a range of numbers");
    assert_eq!(fault("n[]"), "'' is neither a number nor a range of numbers");
    assert_eq!(fault(&format!("n{}1{}", "[".repeat(50_000), "]".repeat(50_000))), "brackets are nested too deeply");
    assert_eq!(fault(&"n".repeat(300)), "a name in the hostlist is longer than 256 bytes");
    assert_eq!(fault("n[5-2]"), "the range '5-2' runs downwards");
}

#[test]
fn too_many_names_are_refused_before_they_are_made() {
    for list in ["n[0-999999999999]", "n[0-18446744073709551615]", "a[0-999]b[0-999]", "n[1-600],m[1-600]"] {
        assert_eq!(expand(list, 1000), Err(HostlistError::TooMany { list: list.into(), limit: 1000 }));
    }
    assert_eq!(expand("n[1-1000]", 1000).unwrap().len(), 1000);
}

#[test]
fn names_fold_as_sacct_prints_them() {
    check_compress("n1 n2 m1 m2 m3 m4", "m[1-4],n[1-2]");
    check_compress("b1 g1 m1 m2 m3 n1 n3 n4", "b1,g1,m[1-3],n[1,3-4]");
    check_compress("h01 h02 h09 h10 h11", "h[01-02,09-11]");
    check_compress("n9 n10", "n[9-10]");
    check_compress("n99 n100", "n[99-100]");
    check_compress("cpn-f13-03-01 cpn-f13-03-02 cpn-f13-04-01", "cpn-f13-03-[01-02],cpn-f13-04-01");
    check_compress("login head", "head,login");
    check_compress("r2i4n8 r2i5n0", "r2i4n8,r2i5n0");
    check_compress("a1 a1b a2", "a[1-2],a1b");
    check_compress("n4", "n4");
}

#[test]
fn numbers_of_different_padding_stay_apart() {
    check_compress("n1 n2 n01 n02", "n1,n01,n2,n02");
}

#[test]
fn node_order_reads_numbers_as_numbers() {
    let mut names = vec!["n10", "n9", "m1", "n1", "g1", "n2", "n01", "n010"];
    names.sort_by(|a, b| natural_cmp(a, b));
    assert_eq!(names, ["g1", "m1", "n01", "n010", "n1", "n2", "n9", "n10"]);
}

proptest! {
    #[test]
    fn compressing_and_expanding_give_the_same_names(numbers in prop::collection::btree_set((0_u32..3, 0_u32..200), 1..60)) {
        let names: Vec<String> = numbers.iter().map(|(group, number)| match group {
            0 => format!("a{number}"),
            1 => format!("b{number:03}"),
            _ => format!("c{}x{number}", number % 3),
        }).collect();
        let list = compress(names.iter().map(String::as_str));
        let mut back = expand(&list, 1000).unwrap();
        let mut sorted = names.clone();
        back.sort();
        sorted.sort();
        prop_assert_eq!(back, sorted);
    }

    #[test]
    fn ranges_of_nodes_print_as_their_names_one_by_one(
        nodes in prop::collection::btree_set((0_usize..4, 1_u64..100), 1..60),
        in_node_order: bool,
        ranges in prop::collection::vec((0_u32..4, 0_u32..9), 0..9),
    ) {
        let mut names: Vec<String> = nodes.iter().map(|&(group, number)| match group {
            0 => format!("a{number}"),
            1 => format!("b{number:03}"),
            2 => format!("b{number:02}"),
            _ => format!("c{}x{number}", number % 3),
        }).collect();
        if in_node_order {
            names.sort_by(|a, b| natural_cmp(a, b));
        } else {
            names.reverse();
        }
        let mut ascending = Vec::new();
        let mut next = 0;
        for (gap, length) in ranges {
            ascending.push((next + gap, next + gap + length));
            next += gap + length + 1;
        }
        let held = ascending.iter().flat_map(|&(first, last)| first..=last).filter_map(|node| names.get(node as usize));
        let mut printed = String::new();
        NodeNames::new(names.iter().map(String::as_str)).hostlist(&ascending, &mut printed);
        prop_assert_eq!(printed, compress(held.map(String::as_str)));
    }

    #[test]
    fn no_text_makes_expanding_panic(text in "[a-z0-9,\\[\\]\\-é]{0,30}") {
        let _ = expand(&text, 100);
    }
}
